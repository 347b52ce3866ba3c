import Foundation
import Testing
import WebServices

@testable import CloudKit

struct ContainerTests {
  @Test("The databases of a container are always the same objects")
  func databases() {
    let container = CKContainer.scripted { _, _ in .silence }
    #expect(container.database(with: .public) === container.publicCloudDatabase)
    #expect(container.database(with: .private) === container.privateCloudDatabase)
    #expect(container.database(with: .shared) === container.sharedCloudDatabase)
    #expect(container.containerIdentifier == "iCloud.test")
    #expect(CKContainer.default() === CKContainer.default())
  }

  @Test("The user's record ID is the caller's name")
  func user() async throws {
    let container = CKContainer.scripted { request, _ in
      request.operation == "users/caller" && request.method == .get && request.scope == .public
        ? .ok(UserResponse(userRecordName: "_me").body) : .silence
    }
    #expect(try await container.userRecordID() == CKRecord.ID(recordName: "_me"))
    #expect(try await container.accountStatus() == .available)
  }

  @Test("An unknown user is no account, an unreachable server an error")
  func accountStatus() async throws {
    let unknown = CKContainer.scripted { _, _ in
      .error(ServiceError(.authenticationRequired, "sign in"))
    }
    #expect(try await unknown.accountStatus() == .noAccount)
    let error = try await #require(throws: CKError.self) { try await unknown.userRecordID() }
    #expect(error.code == .notAuthenticated)
    let unreachable = CKContainer.scripted { _, _ in
      .failure(TransportFailure(.offline, "no network"))
    }
    let (status, failure) = await withCheckedContinuation { continuation in
      unreachable.accountStatus { continuation.resume(returning: ($0, $1)) }
    }
    #expect(status == .couldNotDetermine)
    #expect((failure as? CKError)?.code == .networkUnavailable)
  }

  @Test("A device token is registered in hexadecimal, for the device and its APNs environment")
  func deviceToken() async throws {
    let transport = ScriptedTransport { _, _ in .ok(Data("{}".utf8)) }
    try await CKContainer.scripted(transport).registerForRemoteNotifications(
      deviceToken: Data([0x00, 0xAB, 0xFF]), apnsEnvironment: .production)
    let request = try #require(transport.requests.first)
    #expect(request.operation == "tokens/register")
    #expect(
      try TokenRequest(parsing: try #require(request.body))
        == TokenRequest(apnsEnvironment: .production, apnsToken: "00abff", clientID: "device"))
  }

  @Test("An empty device token is refused")
  func emptyDeviceToken() async throws {
    let error = try await #require(throws: CKError.self) {
      try await CKContainer.scripted { _, _ in .silence }
        .registerForRemoteNotifications(deviceToken: Data())
    }
    #expect(error.code == .invalidArguments)
  }

  @Test("The containers of one identifier share a client as long as one of them lives")
  func ambientClients() throws {
    let configuration = PetrelConfiguration(
      serverURL: URL(string: "http://petrel.test")!, deviceID: "device")
    let identifier = "iCloud.test.\(UUID().uuidString)"
    weak var last: WebServicesClient?
    do {
      let first = try AmbientClients.client(identifier, configuration).get()
      #expect(try AmbientClients.client(identifier, configuration).get() === first)
      #expect(try AmbientClients.client(identifier + "2", configuration).get() !== first)
      last = first
    }
    #expect(last == nil)
    #expect(throws: CKError.self) { try AmbientClients.client("wrong", configuration).get() }
  }
}
