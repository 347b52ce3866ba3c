import Foundation
import JSONCoding
import Measuring
import RepositoryFiles
import Testing

@testable import PetrelServer
@testable import PushChannels

struct DeploymentTests {
  private static func text(_ path: String) throws -> String {
    try RepositoryFile.text(path)
  }

  @Test(
    "the alert rules are good, and fire on what they are for", .enabled(if: Promtool.path != nil))
  func rules() throws {
    let folder = RepositoryFile.url("deploy/prometheus")
    for words in [
      ["check", "rules", "petrel.rules.yml"], ["test", "rules", "petrel.rules.test.yml"],
    ] {
      let file = folder.appending(path: words[2]).path
      let verdict = try Promtool.run([words[0], words[1], file])
      #expect(verdict.status == 0, "\(verdict.text)")
    }
  }

  @Test("each alert has a section in the manual")
  func manual() throws {
    let rules = try Self.text("deploy/prometheus/petrel.rules.yml")
    let manual = try Self.text("docs/operate/alerts.md")
    let alerts = rules.matches(of: /alert: (\w+)/).map { String($0.1) }
    #expect(alerts.count > 10)
    for alert in alerts { #expect(manual.contains("\n## \(alert)\n"), "\(alert)") }
  }

  @Test("every figure that alerts and dashboard look at is one that the server has")
  func figures() async throws {
    var settings = ServiceSettings()
    settings.webhooks = .init()
    let names = try await Self.names(settings)
    for file in ["deploy/prometheus/petrel.rules.yml", "deploy/grafana/petrel.json"] {
      let text = try Self.text(file)
      let used = Set(text.matches(of: /\b(petrel|process)_[a-z_]+/).map { String($0.0) })
        .subtracting(["petrel_"])
      #expect(used.count > 10)
      for name in used {
        let base = name.replacing(/_(bucket|sum|count)$/, with: "")
        #expect(names.contains(name) || names.contains(base), "\(file): \(name)")
      }
    }
    let dashboard = try JSONValue(parsing: Self.text("deploy/grafana/petrel.json"))
    #expect(dashboard["title"] == "Petrel" && dashboard["panels"]?.array?.isEmpty == false)
  }

  /// The names of all figures, those too that need something to have happened.
  private static func names(_ settings: ServiceSettings) async throws -> Set<String> {
    var text = ""
    try await withService(settings) { service in
      _ = try await service.post("public/records/query", "{}", as: service.alice)
      _ = try await service.lookup("n")
      text = await service.server.metricsPage().text
    }
    var page = MetricsPage()
    let figures = APNsChannel.Figures(
      labels: [], client: .init(), answers: [.init(status: 200, reason: ""): 1])
    APNsChannel.write([figures], to: &page)
    return Set((text + page.text).matches(of: /# TYPE (\S+)/).map { String($0.1) })
  }
}
