import CloudKitModel
import Foundation
import PushChannels
import Storage
import StoreModel
import WebServices

/// The endpoints `users…` and `devices…`, which list accounts and devices, and which remove
/// devices.
struct AdminUsersEndpoints: AdminEndpoints {
  let accounts: AccountService
  let administration: AdministrationService
  let devices: DeviceService
  let databases: AdminDatabases

  private static let beginning = AdminArgument(
    "text", .text, "only users whose names begin with this text")
  private static let holder = AdminArgument(
    "user", .text, "only this user's: a name or a user record name", "USER")

  static let endpoints: [AdminHandler<Self>] = [
    .get(
      "users", [Self.beginning, .limit, .continuation], "Accounts by their names",
      answers: .page("users", of: User.shape), Self.list),
    .get("users/show", [.user.needed], "An account", answers: User.shape) { group in
      { try await $0.user(in: group.accounts) }
    },
    .get(
      "devices", [holder, .limit, .continuation],
      "APNs tokens, browsers, webhooks and readers of the web courier",
      answers: .page("devices", of: Self.device), Self.devices),
    .post(
      "devices/delete", [.kind, .token.needed],
      "Removes a device; the pushes that wait for it are not sent", answers: deletedDevice,
      Self.deleteDevice),
  ]

  /// Returns a page of accounts, ordered by name.
  private func list(_ request: AdminRequest) async throws -> AdminPage<User> {
    let limit = request.arguments.limit
    let page = try await administration.users(
      beginningWith: request.arguments.text(Self.beginning) ?? "",
      after: try AdminContinuation.parts(request.arguments, count: 1)?.first, limit: limit)
    return AdminPage(
      elements: page,
      continuation: page.count == limit ? page.last.map { AdminContinuation.text([$0.name]) } : nil)
  }

  // MARK: Devices

  /// A device with the account name of its user. The name is nil if there is no account.
  private typealias NamedDevice = (device: DeviceToken, userName: String?)

  private static let device = AnswerShape<NamedDevice>("Device") { named in
    named.member("kind") { $0.device.kind }
    named.member("token") { $0.device.shownToken }
    named.members(of: ContainerPlace.shape) {
      ContainerPlace(container: $0.device.container, environment: $0.device.environment)
    }
    named.member("apnsEnvironment") { $0.device.apnsEnvironment }
    named.optional("bundleID") { $0.device.bundleID }
    named.optional("refused") { $0.device.refusal?.since }
    named.optional("refusedTopic") { $0.device.refusal?.topic }
    named.member("user") { $0.device.userRecordName }
    named.optional("userName") { $0.userName }
    named.optional("deviceID") { $0.device.deviceID }
    named.member("registered") { $0.device.registered }
    named.optional("expires") { $0.device.expires }
  }

  /// Returns a page of devices, ordered by kind, token and container.
  private func devices(_ request: AdminRequest) async throws -> AdminPage<NamedDevice> {
    let arguments = request.arguments
    var user: String?
    if let name = arguments.text(Self.holder) {
      user = try await databases.userRecordName(name, of: Self.holder, arguments)
    }
    let last = try AdminContinuation.parts(arguments, count: 4).flatMap { parts -> DeviceName? in
      guard let kind = DeviceToken.Kind(rawValue: parts[0]),
        let environment = ContainerEnvironment(rawValue: parts[3])
      else { return nil }
      return DeviceName(
        kind: kind, token: parts[1], container: parts[2], environment: environment)
    }
    let page = try await administration.devices(of: user, after: last, limit: arguments.limit)
    let names = try await accounts.userNames(of: Set(page.map(\.userRecordName)))
    return AdminPage(
      elements: page.map { ($0, names[$0.userRecordName]) },
      continuation: page.count == arguments.limit
        ? page.last.map {
          AdminContinuation.text([
            $0.kind.rawValue, $0.token, $0.container, $0.environment.rawValue,
          ])
        } : nil)
  }

  private typealias Deletion = (token: String, kind: DeviceToken.Kind)

  private static let deletedDevice = AnswerShape<Deletion> { deletion in
    deletion.member("deleted") { $0.token }
    deletion.member("kind") { $0.kind }
  }

  /// Removes a device from all containers, and abandons its waiting deliveries. Without a kind, the
  /// device is of the first kind that has the token.
  private func deleteDevice(_ request: AdminRequest) async throws -> Deletion {
    let kind: DeviceToken.Kind? = request.arguments.word(.kind)
    let token = try request.arguments.required(.token)
    for kind in kind.map({ [$0] }) ?? PushChannelRegistry.all.map({ $0.kind }) {
      var isRemoved = false
      for device in try await devices.registrations(ofToken: token, kind: kind)
      where try await devices.removeDeviceToken(
        token, kind: kind, of: device.recipient, at: request.now)
      {
        isRemoved = true
      }
      if isRemoved { return (token, kind) }
    }
    throw ServiceError(.notFound, "there is no such device")
  }
}

extension DeviceToken.Kind: MessagePart {}
extension APNsEnvironment: MessagePart {}

extension DeviceToken {
  /// The token as a list may show it. The token of a web courier's reader is a secret that permits
  /// reading, so the list shows only its first 8 characters.
  fileprivate var shownToken: String {
    kind == .courier ? String(token.prefix(8)) + "…" : token
  }
}
