import Foundation
import JSONCoding
import RepositoryFiles
import Testing

@testable import DatabaseAPI
@testable import PetrelServer

/// Holds docs/reference/openapi.yaml to what is served. That answers have the shape it gives is checked by
/// Scripts/protocol_check.py.
struct DescriptionTests {
  /// Paths that are no operations of a container, with a request for each.
  private static let others = [
    "/aps": "/aps", "/assets/{database}/upload/{secret}": "/assets/1/upload/x",
    "/assets/{database}/{checksum}": "/assets/1/x", "/sign-in": "/sign-in?state=x",
    "/sign-in/cancel": "/sign-in/cancel",
    "/sign-in/with/{issuer}": "/sign-in/with/x", "/sign-in/from/{issuer}": "/sign-in/from/x",
  ]

  /// The parts of the page that are made from the operations, by the names of their marks.
  private static func parts(_ operations: [DatabaseAPI.Operation]) -> [String: String] {
    let description = OpenAPIDescription(operations)
    return [
      "operations": description.paths.map { YAML.text([($0.path, $0.item)], indentation: 2) }
        .joined(separator: "\n"),
      "schemas": YAML.text(
        description.schemas.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, indentation: 4),
    ]
  }

  private static func marks(_ name: String) -> (begin: String, end: String) {
    ("  # The \(name) are made from the sources.\n", "  # End of the \(name).\n")
  }

  /// The page is written by `PETREL_WRITE_PAGES=1 make test ONLY=PetrelServerTests.DescriptionTests`.
  @Test("describes the operations and their shapes as the sources declare them")
  func operations() async throws {
    try await withService { service in
      var page = try RepositoryFile.text("docs/reference/openapi.yaml")
      for (name, text) in Self.parts(service.operations.all) {
        let marks = Self.marks(name)
        let begin = try #require(page.range(of: marks.begin)?.upperBound, "\(name)")
        let end = try #require(page.range(of: marks.end)?.lowerBound, "\(name)")
        guard page[begin..<end] != text else { continue }
        page.replaceSubrange(begin..<end, with: text)
        guard ProcessInfo.processInfo.environment["PETREL_WRITE_PAGES"] != nil else {
          Issue.record("the \(name) in docs/reference/openapi.yaml are out of date")
          continue
        }
        try page.write(
          to: RepositoryFile.url("docs/reference/openapi.yaml"), atomically: true, encoding: .utf8)
      }
    }
  }

  @Test("gives each operation of each path an ID of its own, from which generators name functions")
  func operationIDs() throws {
    let lines = try RepositoryFile.text("docs/reference/openapi.yaml").split(separator: "\n")
    let methods = lines.filter { $0.wholeMatch(of: #/    (get|head|post):/#) != nil }
    let identifiers = lines.compactMap { $0.wholeMatch(of: #/      operationId: ([\w-]+)/#)?.1 }
    #expect(methods.count > 40 && identifiers.count == methods.count)
    #expect(Set(identifiers).count == identifiers.count)
    #expect(identifiers.contains("post-records-query"))
  }

  @Test("has the paths beside the operations")
  func otherPaths() async throws {
    let page = try RepositoryFile.text("docs/reference/openapi.yaml")
    for path in Self.others.keys { #expect(page.contains("\n  \(path):\n"), "\(path)") }
    try await withService { service in
      for target in Self.others.values {
        let answer = try await service.client.send("GET", target)
        #expect(answer.status < 500 && !answer.reason.contains("no such path"), "\(target)")
      }
    }
  }
}
