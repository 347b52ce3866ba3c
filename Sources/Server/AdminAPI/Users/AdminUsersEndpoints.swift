import CloudKitModel
import Foundation
import HTTPService
import JSONCoding
import PushChannels
import StoreModel
import WebServices

/// Which accounts there are, and the devices of their users.
struct AdminUsersEndpoints: AdminEndpoints {
  let accounts: any AccountReading
  let administration: any AdministrationStore
  let devices: any DeviceStore
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
    let page = try await administration.users(
      beginningWith: try request.arguments.text("text") ?? "",
      after: try AdminContinuation.parts(request.arguments, count: 1)?.first, limit: limit)
    return request.object { writer in
      writer.key("users")
      writer.array { writer in
        for user in page { writer.object { user.write(to: &$0) } }
      }
      if page.count == limit, let last = page.last {
        writer.member("continuation", AdminContinuation.text([last.name]))
      }
    }
  }

  private func show(_ request: AdminRequest) async throws -> HTTPResponse {
    let user = try await request.user(in: accounts)
    return request.object { user.write(to: &$0) }
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
    let page = try await administration.devices(of: user, after: last, limit: limit)
    let names = try await accounts.userNames(of: Set(page.map(\.userRecordName)))
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
        rawValue: try request.arguments.required("kind")), kind.isPushed
    else {
      let kinds = PushChannelRegistry.all.map { $0.kind.rawValue }.joined(separator: ", ")
      throw request.arguments.mistake("kind", "must be one of \(kinds)")
    }
    let token = try request.arguments.required("token")
    guard let device = try await devices.deviceToken(token, kind: kind),
      try await devices.removeDeviceToken(
        token, kind: kind,
        of: Recipient(
          userRecordName: device.userRecordName, container: device.container,
          environment: device.environment), at: request.now)
    else { throw ServiceError(.notFound, "there is no such device") }
    return request.object { $0.member("deleted", token) }
  }
}
