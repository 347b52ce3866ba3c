import CloudKit

/// A user of the measured server. Each measurement has a user of its own, so that its engines find
/// nothing of other measurements.
struct SyncUser: Sendable {
  let server: URL
  let token: String
  /// The folder for what the clients of this process keep.
  let directory: String

  func container(of device: String) -> CKContainer {
    CKContainer(
      identifier: EarthquakeRequests.container,
      configuration: PetrelConfiguration(
        serverURL: server, webAuthToken: token, deviceID: device,
        stateDirectory: URL(fileURLWithPath: directory, isDirectory: true)))
  }
}
