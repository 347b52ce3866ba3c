import CloudKitModel
import Foundation
import HTTPService
import JSONCoding
import Storage
import WebServices

/// Accounts, and the devices of their users.
struct AdminUsersEndpoints: AdminEndpoints {
  let store: any RecordStore
  let databases: AdminDatabases

  var endpoints: [AdminEndpoint] {
    [
      .get(
        "users",
        [.init("text", .text, "what the name begins with"), "limit", "continuation"], list
      )
      .described("Accounts by their names", answers: .page("users", of: .user)),
      .get("users/show", [.needed("user")], show)
        .described("An account", answers: .user),
      .post("users/sign-out", [.needed("user"), "everywhere"], signOut)
        .described("Ends a user's sessions", answers: .object(["sessions": .count])),
      .get("devices", ["user", "limit", "continuation"], devices)
        .described(
          "APNs tokens, browsers, webhooks and readers of the web courier",
          answers: .page("devices", of: .device)),
      .post("devices/delete", [.needed("kind"), .needed("token")], deleteDevice)
        .described(
          "Forgets a device and gives up what waits for it", answers: .object(["deleted": .text])),
    ]
  }

  private func list(_ request: AdminRequest) async throws -> HTTPResponse {
    let limit = try request.arguments.limit()
    let page = try await store.administration.users(
      beginningWith: try request.arguments.text("text") ?? "",
      after: try AdminContinuation.parts(request.arguments, count: 1)?.first, limit: limit)
    return request.object { writer in
      writer.key("users")
      writer.array { writer in
        for user in page { writer.object { Self.write(user, to: &$0) } }
      }
      if page.count == limit, let last = page.last {
        writer.member("continuation", AdminContinuation.text([last.name]))
      }
    }
  }

  private static func write(_ user: User, to writer: inout JSONWriter) {
    writer.member("name", user.name)
    writer.member("userRecordName", user.userRecordName)
    writer.member("created", user.created)
    writer.member("emailAddress", ifPresent: user.profile.emailAddress)
    writer.member("phoneNumber", ifPresent: user.profile.phoneNumber)
    writer.member("fullName", ifPresent: user.profile.nameComponents?.fullName)
  }

  private func user(_ request: AdminRequest) async throws -> User {
    let word = try request.arguments.required("user")
    if let user = try await store.user(named: word) { return user }
    if let user = try await store.user(withRecordName: word) { return user }
    throw ServiceError(.notFound, "there is no user named '\(word.prefix(80))'")
  }

  private func show(_ request: AdminRequest) async throws -> HTTPResponse {
    let user = try await user(request)
    return request.object { Self.write(user, to: &$0) }
  }

  private func signOut(_ request: AdminRequest) async throws -> HTTPResponse {
    let user = try await user(request)
    let count = try await store.endSessions(
      of: user.userRecordName, everywhere: try request.arguments.bool("everywhere") ?? false,
      at: request.now)
    return request.object { $0.member("sessions", count) }
  }

  private func devices(_ request: AdminRequest) async throws -> HTTPResponse {
    let arguments = request.arguments
    var user: String?
    if let word = try arguments.text("user") {
      user = try await databases.userRecordName(word, arguments)
    }
    let last = try AdminContinuation.parts(arguments, count: 2).flatMap { parts in
      DeviceToken.Kind(rawValue: parts[0]).map { DeviceName(kind: $0, token: parts[1]) }
    }
    let limit = try arguments.limit()
    let page = try await store.administration.devices(of: user, after: last, limit: limit)
    let names = try await store.administration.userNames(of: Set(page.map(\.userRecordName)))
    return request.object { writer in
      writer.key("devices")
      writer.array { writer in
        for device in page {
          writer.object {
            Self.write(device, userName: names[device.userRecordName], to: &$0)
          }
        }
      }
      if page.count == limit, let last = page.last {
        writer.member("continuation", AdminContinuation.text([last.kind.rawValue, last.token]))
      }
    }
  }

  private static func write(
    _ device: DeviceToken, userName: String?, to writer: inout JSONWriter
  ) {
    writer.member("kind", device.kind.rawValue)
    // The token of a courier's reader opens its user's notifications.
    writer.member(
      "token", device.kind == .courier ? String(device.token.prefix(8)) + "…" : device.token)
    writer.member("container", device.container)
    writer.member("environment", device.environment.rawValue)
    writer.member("apnsEnvironment", device.apnsEnvironment.rawValue)
    writer.member("user", device.userRecordName)
    writer.member("userName", ifPresent: userName)
    writer.member("deviceID", ifPresent: device.deviceID)
    writer.member("registered", device.registered)
    writer.member("expires", ifPresent: device.expires)
  }

  private func deleteDevice(_ request: AdminRequest) async throws -> HTTPResponse {
    guard
      let kind: DeviceToken.Kind = DeviceToken.Kind(
        rawValue: try request.arguments.required("kind")), kind != .courier
    else { throw request.arguments.mistake("kind", "must be apns, webPush or webhook") }
    let token = try request.arguments.required("token")
    guard let device = try await store.deviceToken(token, kind: kind),
      try await store.removeDeviceToken(
        token, kind: kind,
        of: Recipient(
          userRecordName: device.userRecordName, container: device.container,
          environment: device.environment), at: request.now)
    else { throw ServiceError(.notFound, "there is no such device") }
    return request.object { $0.member("deleted", token) }
  }
}

extension PersonNameComponents {
  /// Given and family names, as people write them in most places.
  fileprivate var fullName: String? {
    let parts = [namePrefix, givenName, middleName, familyName, nameSuffix].compactMap { $0 }
    return parts.isEmpty ? nickname : parts.joined(separator: " ")
  }
}
