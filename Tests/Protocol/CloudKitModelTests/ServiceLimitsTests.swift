import CloudKitModel
import Foundation
import RepositoryFiles
import Testing

struct ServiceLimitsTests {
  /// The names of the numbers that the source declares.
  private func declared() throws -> [String] {
    try RepositoryFile.text("Sources/Protocol/CloudKitModel/Limits/ServiceLimits.swift")
      .matches(of: #/public static (?:let|var) (\w+)/#).map { String($0.output.1) }
  }

  @Test("clients get each limit under the name of its property, and nothing else")
  func names() throws {
    let declared = try declared()
    #expect(declared.count > 20)
    let told = ServiceLimits.all.map(\.name)
    #expect(Set(told).count == told.count)
    #expect(Set(told) == Set(declared))
  }

  @Test("a limit has the value of its property, and says what it counts")
  func values() throws {
    for limit in ServiceLimits.all {
      #expect(limit.value > 0, "\(limit)")
    }
    #expect(ServiceLimits.all.contains(ServiceLimit("recordSize", 1_000_000, .bytes)))
    #expect(ServiceLimits.all.contains(ServiceLimit("operationsPerRequest", 400, .count)))
    #expect(ServiceLimits.all.contains(ServiceLimit("nameLength", 255, .characters)))
  }
}
