import Foundation
import RepositoryFiles
import Testing

/// Holds docs/openapi.yaml to what is served. That answers have the shape it gives is checked by
/// Scripts/protocol_check.py.
struct DescriptionTests {
  /// Paths that are no operations of a container, with a request for each.
  private static let others = [
    "/aps": "/aps", "/assets/{database}/upload/{secret}": "/assets/1/upload/x",
    "/assets/{database}/{checksum}": "/assets/1/x", "/sign-in": "/sign-in?state=x",
    "/sign-in/cancel": "/sign-in/cancel",
    "/sign-in/with/{issuer}": "/sign-in/with/x", "/sign-in/from/{issuer}": "/sign-in/from/x",
  ]

  /// The paths that are described.
  private static func paths() throws -> [String] {
    let text = try RepositoryFile.text("docs/openapi.yaml")
    let section = try #require(text.range(of: "\npaths:\n"))
    let end = try #require(text.range(of: "\ncomponents:\n"))
    return text[section.upperBound..<end.lowerBound].split(separator: "\n").compactMap { line in
      line.hasPrefix("  /") && line.hasSuffix(":") ? String(line.dropFirst(2).dropLast()) : nil
    }
  }

  @Test("has every operation that is served, and no other")
  func operations() async throws {
    try await withService { service in
      let answer = try await service.post("public/no/such", "{}", as: service.alice)
      let list = try #require(answer.reason.components(separatedBy: "known are ").last)
      let served = Set(list.components(separatedBy: ", "))
      #expect(served.count > 20)
      let paths = try Self.paths()
      #expect(Set(paths).count == paths.count)
      var described: Set<String> = []
      for path in paths where Self.others[path] == nil {
        let prefixes = [
          "/database/1/{container}/{environment}/{database}/",
          "/device/1/{container}/{environment}/",
        ]
        let prefix = try #require(prefixes.first { path.hasPrefix($0) }, "\(path)")
        described.insert(String(path.dropFirst(prefix.count)))
      }
      #expect(described.subtracting(served) == [], "described, but not served")
      #expect(served.subtracting(described) == [], "served, but not described")
    }
  }

  @Test("has the paths beside the operations")
  func otherPaths() async throws {
    #expect(Set(Self.others.keys).isSubset(of: Set(try Self.paths())))
    try await withService { service in
      for target in Self.others.values {
        let answer = try await service.client.send("GET", target)
        #expect(answer.status < 500 && !answer.reason.contains("no such path"), "\(target)")
      }
    }
  }
}
