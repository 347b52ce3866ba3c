import Foundation
import JSONCoding
import RepositoryFiles
import Testing
import Waiting

@testable import AdminAPI
@testable import PetrelServer

struct BackgroundWorkTests {
  @Test("the page lists the jobs of a server, with their modules and triggers")
  func page() async throws {
    let page = try RepositoryFile.text("docs/operate/monitoring.md")
    let section = try #require(page.components(separatedBy: "### Background work\n").last)
    let rows = try #require(section.components(separatedBy: "\n\n").dropFirst(1).first)
      .split(separator: "\n").dropFirst(2)
    try await withService { service in
      let jobs = service.server.jobs.map { job in
        "| `\(job.name)` | `\(job.owner)` | "
          + job.trigger.replacing("/health/ready", with: "`/health/ready`") + " |"
      }
      // One server alone has no membership.
      #expect(rows.filter { !$0.contains("`membership`") } == jobs.map { Substring($0) })
      #expect(Set(service.server.jobs.map(\.name)).count == jobs.count)
    }
  }

  @Test("metrics and the admin API show the runs of jobs")
  func runs() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      #expect(try await service.modify(Service.operation("create", "n")).outcomes == ["ok"])
      let jobs = service.server.jobs
      try await eventually("the change is dispatched") {
        jobs.first { $0.name == "dispatch" }?.status.runs ?? 0 > 0
      }
      try await eventually("the retention has run") {
        jobs.first { $0.name == "retention" }?.status.runs ?? 0 > 0
      }
      let lines = try await service.metrics().split(separator: "\n")
      #expect(lines.contains { $0.hasPrefix(#"petrel_background_runs_total{job="retention"} "#) })
      #expect(lines.contains(#"petrel_background_failures_total{job="retention"} 0"#))
      let listed = try await service.adminGet("background", key: key).json["jobs"]?.array ?? []
      #expect(listed.compactMap { $0["name"]?.string } == jobs.map(\.name))
      let retention = try #require(listed.first { $0["name"] == "retention" })
      #expect(retention["runs"]?.int ?? 0 > 0 && retention["failures"] == 0)
      #expect(retention["lastRun"] != nil && retention["failure"] == nil)
    }
  }
}
