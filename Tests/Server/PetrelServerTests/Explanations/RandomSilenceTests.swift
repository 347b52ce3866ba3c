import CloudKitModel
import PropertyTesting
import Testing

@testable import PetrelServer

/// Tests with subscriptions of all kinds over random histories of changes in zones. Each
/// subscription fired or has the reasons that a plain model has.
///
/// Grants change, some subscriptions fire once, some are in other databases, some values are too
/// large to keep, and the log is trimmed.
@Suite(.serialized)
struct RandomSilenceTests {
  @Test("in zones no reason of silence differs from what the server did", arguments: Seeds.some(2))
  func zones(seed: Int) async throws {
    try await check(seed: seed, scope: .private)
  }

  @Test(
    "under grants no reason of silence differs from what the server did", arguments: Seeds.some(2))
  func grants(seed: Int) async throws {
    try await check(seed: seed, scope: .public)
  }

  private func check(seed: Int, scope: DatabaseScope) async throws {
    var history = SilenceHistory(
      seed: seed, environment: seed.isMultiple(of: 2) ? .development : .production, scope: scope)
    try await withService { service in
      service.clock.stop()
      try await history.begin(at: service)
      for _ in 0..<80 { try await history.step(at: service) }
      try await history.trimLog(of: service)
      try await history.check(at: service)
    }
  }
}
