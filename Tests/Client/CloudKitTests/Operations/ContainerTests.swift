import Foundation
import Testing
import Waiting
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

  @Test("A device token is registered for the app that names its bundle ID, and else for none")
  func bundleID() async throws {
    let transport = ScriptedTransport { _, _ in .ok(Data("{}".utf8)) }
    let container = CKContainer.scripted(transport)
    try await container.registerForRemoteNotifications(
      deviceToken: Data([1]), bundleID: "com.example.app.mac")
    try await container.registerForRemoteNotifications(deviceToken: Data([1]), bundleID: nil)
    try await container.registerForRemoteNotifications(deviceToken: Data([1]))
    let requests = try transport.requests.map { try TokenRequest(parsing: #require($0.body)) }
    #expect(requests.map(\.bundleID) == ["com.example.app.mac", nil, Bundle.main.bundleIdentifier])
  }

  @Test("A device is unregistered by its name, for the user of the request")
  func unregistering() async throws {
    let transport = ScriptedTransport { _, _ in .ok(Data("{}".utf8)) }
    try await CKContainer.scripted(transport).unregisterForRemoteNotifications()
    let request = try #require(transport.requests.first)
    #expect(request.operation == "tokens/unregister")
    #expect(request.webAuthToken == "a+b/c=")
    #expect(
      try TokenUnregistration(parsing: try #require(request.body))
        == TokenUnregistration(clientID: "device"))
  }

  @Test("Signing out unregisters the device for the user who was signed in")
  func signingOut() async throws {
    let transport = ScriptedTransport { _, _ in .ok(Data("{}".utf8)) }
    let container = CKContainer.scripted(transport)
    try container.setWebAuthToken("a+b/c=")
    try container.setWebAuthToken("another")
    try await eventually("the first user's device is unregistered") {
      transport.requests.map(\.webAuthToken) == ["a+b/c="]
    }
    try container.setWebAuthToken(nil)
    try await eventually("the other user's device is unregistered") {
      transport.requests.map(\.webAuthToken) == ["a+b/c=", "another"]
    }
    try container.setWebAuthToken(nil)
    #expect(transport.requests.map(\.operation) == ["tokens/unregister", "tokens/unregister"])
    #expect(container.webAuthToken == nil)
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
