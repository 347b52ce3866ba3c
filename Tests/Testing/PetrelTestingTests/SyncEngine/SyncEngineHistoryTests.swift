import CloudKit
import Foundation
import PetrelTesting
import PropertyTesting
import SyncDevices
import Testing

/// Random histories of several devices, with faults, conflicts, and restarts from the state that was
/// stored last.
struct SyncEngineHistoryTests {
  private static let faults: [TestFault] = [
    .networkLoss, .answerLost, .serviceUnavailable(), .zoneBusy(), .conflict,
  ]

  @Test(
    "at the end all devices and the server agree, and each begin had its end",
    arguments: Seeds.some(12))
  func history(seed: Int) async throws {
    let devices = try await history(seed: seed, kills: false)
    for (number, device) in devices.enumerated() {
      let names = device.eventNames
      for kind in ["FetchChanges", "FetchRecordZoneChanges", "SendChanges"] {
        #expect(
          names.count { $0 == "will\(kind)" } == names.count { $0 == "did\(kind)" },
          "seed \(seed), device \(number)")
      }
    }
  }

  @Test(
    "a device that was killed after any event loses nothing", arguments: Seeds.some(12))
  func kills(seed: Int) async throws {
    _ = try await history(seed: seed, kills: true)
  }

  /// Runs a history, and checks that all devices and the server agree at its end.
  ///
  /// - Parameter kills: Whether devices are killed after random events of sends and fetches.
  private func history(seed: Int, kills: Bool) async throws -> [SyncDevice] {
    var random = SeededGenerator(seed: seed)
    let cloud = try await TestCloud()
    let devices = (0..<Int.random(in: 2...5, using: &random)).map {
      SyncDevice(cloud.container(user: "anna", device: "d\($0)").privateCloudDatabase)
    }
    for device in devices {
      device.start()
      // The feed of a zone that a device has never read does not name the records that were deleted
      // before.
      try await device.engine.sendChanges()
      try await device.engine.fetchChanges()
    }
    for step in 0..<60 {
      let device = devices.randomElement(using: &random)!
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<4:
        let name = "n\(Int.random(in: 0..<6, using: &random))"
        device.edit([name: "\(step)-\(Int.random(in: 0..<100, using: &random))"])
      case 4:
        if let name = device.titles.keys.sorted().randomElement(using: &random) {
          device.delete(name)
        }
      case 5..<8 where kills && Bool.random(using: &random):
        device.kill(afterEvents: Int.random(in: 0..<7, using: &random))
        if Bool.random(using: &random) {
          _ = await syncError { try await device.engine.sendChanges() }
        } else {
          _ = await syncError { try await device.engine.fetchChanges() }
        }
        device.start()
      case 5..<8: _ = await syncError { try await device.engine.sendChanges() }
      case 8, 9: _ = await syncError { try await device.engine.fetchChanges() }
      case 10 where Int.random(in: 0..<8, using: &random) == 0:
        cloud.fail(next: .changeTokenExpired, operation: .fetchDatabaseChanges)
      case 10:
        cloud.fail(next: Self.faults.randomElement(using: &random)!)
      default:
        // The process ends. Records are on disk as the events left them; the state is the stored one.
        device.start()
      }
    }
    cloud.removeFaults()
    for _ in 0..<4 {
      for device in devices {
        device.addUnsent()
        for _ in 0..<8 where await syncError({ try await device.engine.sendChanges() }) != nil {}
        try await device.engine.fetchChanges()
      }
    }
    let zone = devices[0].zoneID
    let server = try await devices[0].database.recordZoneChanges(inZoneWith: zone, since: nil)
    let titles = try server.modificationResultsByID.reduce(into: [String: String]()) {
      $0[$1.key.recordName] = try $1.value.get().record["title"] as? String
    }
    for (number, device) in devices.enumerated() {
      #expect(device.titles == titles, "seed \(seed), device \(number)")
      #expect(device.state.withLock { $0.edits.isEmpty }, "seed \(seed), device \(number)")
      #expect(device.state.withLock { $0.mostCalls } == 1)
    }
    await cloud.stop()
    return devices
  }
}
