#if canImport(PetrelCloudKit)
import PetrelCloudKit
#else
import CloudKit
#endif

func notesContainer(deviceID: String, apiToken: String, stateDirectory: URL) -> CKContainer? {
  guard let server = URL(string: "https://cloud.example.com") else { return nil }
  let configuration = PetrelConfiguration(
    serverURL: server, apiToken: apiToken, deviceID: deviceID, environment: .production,
    stateDirectory: stateDirectory)
  return CKContainer(identifier: "iCloud.com.example.app", configuration: configuration)
}
