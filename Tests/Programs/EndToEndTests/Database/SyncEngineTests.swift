import CloudKit
import SyncDevices
import Testing
import Waiting

/// Sync engines over sockets, which get their pushes from the web courier.
struct SyncEngineTests {
  @Test("A change reaches the engine of another device by a push, within two seconds")
  func push() async throws {
    try await Cloud.run { cloud in
      let (phone, laptop) = try await devices(of: cloud)
      phone.edit(["a": "1"])
      try await phone.engine.sendChanges()
      try await eventually("the laptop has the record", within: .seconds(2)) {
        laptop.titles == ["a": "1"]
      }
      laptop.edit(["a": "2", "b": "3"])
      try await eventually("the phone has both") { phone.titles == ["a": "2", "b": "3"] }
    }
  }

  @Test("Devices whose server was away agree soon after it is back")
  func restart() async throws {
    try await Cloud.run { cloud in
      let (phone, laptop) = try await devices(of: cloud)
      await cloud.stopServer()
      phone.edit(["a": "1"])
      laptop.edit(["b": "2"])
      try await eventually("both sends have failed") {
        [phone, laptop].allSatisfy { $0.eventNames.last == "didSendChanges" }
      }
      try await cloud.startServer()
      try await eventually("both have both records") {
        [phone, laptop].allSatisfy { $0.titles == ["a": "1", "b": "2"] }
      }
    }
  }

  /// Two devices of a user, whose engines have begun to work and wait for pushes.
  private func devices(of cloud: Cloud) async throws -> (phone: SyncDevice, laptop: SyncDevice) {
    var devices: [SyncDevice] = []
    for name in ["phone", "laptop"] {
      let container = try await cloud.container(of: "anna", device: name)
      let device = SyncDevice(container.privateCloudDatabase)
      device.start(automatically: true)
      // A sequence of the container uses the engine's connection to the courier.
      try await container.remoteNotifications().register()
      try await eventually("the engine has sent its zone and fetched") {
        device.eventNames.contains("sentDatabaseChanges")
          && device.eventNames.last == "didFetchChanges"
      }
      devices.append(device)
    }
    return (devices[0], devices[1])
  }
}
