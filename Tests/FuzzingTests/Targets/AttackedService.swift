import CloudKitModel
import Foundation
import HTTPService
import JSONCoding
import PushChannels
import WebServices

@testable import AdminAPI
@testable import Configuration
@testable import DatabaseAPI
@testable import PetrelServer
@testable import Storage

/// A server without sockets, over a store in memory, with a user, her browser's token, and an admin
/// key.
final class AttackedService: Sendable {
  static let container = "iCloud.com.example.app"

  let store: Store
  let operationNames: [String]
  private let service: CloudService
  /// The placeholders in an input for values that differ in each run.
  private let secrets: [(placeholder: String, text: String)]

  init() async throws {
    var storeConfiguration = StoreConfiguration()
    storeConfiguration.fixedEnvironments = []
    store = try await Store.inMemory(configuration: storeConfiguration)
    var configuration = ServerConfiguration(dataDirectory: "")
    configuration.courierPollTime = 0
    // Hashing passwords takes as long as a thousand other inputs.
    configuration.signIn.acceptsPasswords = false
    configuration.channels.webPush = .init(subject: "mailto:ops@example.com")
    configuration.channels.webhooks = .init()
    service = CloudService(
      configuration: configuration, store: store, log: .silent, clock: Self.clock, executor: nil,
      publicURL: { "https://petrel.example" },
      webPushKey: try configuration.channels.webPush.map { [store] in
        try WebPushKey($0, store: store.secrets)
      },
      route: { _ in nil })
    operationNames = Self.names(of: service.operations)
    let anna = try await store.accounts.addUser(named: "anna", at: Self.now)
    secrets = [
      (
        "$ANNA",
        Self.escaped(try await Account.makeToken(for: anna, in: store.accounts, at: Self.now))
      ),
      ("$ADMIN", try await AdminKeys.add(label: "attacked", to: store.adminAccess, at: Self.now)),
      (
        "$API",
        try await Registration.addAPIToken(
          named: "web", container: Self.container, environment: .development, to: store.credentials,
          at: Self.now)
      ),
    ]
    service.start()
    for operation in Self.beginnings { _ = await answer("POST", operation.0, body: operation.1) }
  }

  /// All operations, each with a database that it is for. Those that kept inputs name come first, in
  /// their order.
  private static func names(of operations: OperationTable) -> [String] {
    let listed = FuzzTarget.operationNames.map { name in
      let parts = name.split(separator: "/", maxSplits: 1)
      return DatabaseScope(pathComponent: parts[0]) == nil ? name : String(parts[1])
    }
    let others = operations.all.filter { !listed.contains($0.name) }.map { operation in
      switch operation.place {
      case .container: return operation.name
      case .database(let scopes):
        let scope = scopes.contains(.private) ? DatabaseScope.private : .public
        return "\(scope.pathComponent)/\(operation.name)"
      }
    }
    return FuzzTarget.operationNames + others
  }

  static let now = Timestamp(milliseconds: 1_790_000_000_000)
  private static let clock: @Sendable () -> Timestamp = { now }

  static func escaped(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
  }

  /// The contents of the store before the attack.
  private static let beginnings = [
    (
      "private/zones/modify",
      #"{"operations": [{"operationType": "create", "zone": {"zoneID": {"zoneName": "z"}}}]}"#
    ),
    (
      "private/records/modify",
      #"{"operations": [{"operationType": "create", "record": {"recordName": "r", "recordType": "T", "fields": {"a": {"value": 1}, "b": {"value": "words in a text"}, "c": {"value": ["x", "y"]}, "d": {"value": {"latitude": 1, "longitude": 2}}}}}, {"operationType": "create", "record": {"recordName": "s", "recordType": "T", "fields": {"a": {"value": 2}}}}]}"#
    ),
    (
      "private/records/modify",
      #"{"operations": [{"operationType": "create", "record": {"recordName": "ends", "recordType": "T", "fields": {"e": {"value": 1.7976931348623157e308}, "f": {"value": 9223372036854775807, "type": "TIMESTAMP"}, "d": {"value": {"latitude": -90, "longitude": 180, "timestamp": -9223372036854775808}}, "a": {"value": -9223372036854775808}}}}]}"#
    ),
    (
      "private/subscriptions/modify",
      #"{"operations": [{"operationType": "create", "subscription": {"subscriptionID": "all", "subscriptionType": "query", "query": {"recordType": "T"}, "firesOn": ["create", "update", "delete"], "notificationInfo": {"alertBody": "x"}}}]}"#
    ),
  ]

  static func target(_ operation: String) -> String {
    let isOfDevices = ["tokens/", "notifications/", "webPush/", "webhooks/", "server/"].contains {
      operation.hasPrefix($0)
    }
    return "/\(isOfDevices ? "device" : "database")/1/\(container)/development/\(operation)"
      + "?ckWebAuthToken=$ANNA&clientId=tab"
  }

  /// The answer to an operation of the user's.
  func answer(_ method: String, _ operation: String, body: String) async -> HTTPResponse {
    await answer(method, Self.target(operation), [], Data(body.utf8))
  }

  /// The answer to a request, in whose target and header fields the placeholders stand for secrets.
  func answer(
    _ method: String, _ target: String, _ headers: [(name: String, value: String)], _ body: Data
  ) async -> HTTPResponse {
    func filled(_ text: String) -> String {
      secrets.reduce(text) { $0.replacingOccurrences(of: $1.placeholder, with: $1.text) }
    }
    let request = HTTPRequest(
      method: method, target: filled(target),
      headers: headers.map { (name: $0.name, value: filled($0.value)) }, body: body)
    let response = await service.respond(to: request)
    // What was saved reaches the subscriptions, whoever wrote them.
    await service.settle()
    return response
  }

  /// The token of a reader of the default zone.
  func changeToken() async throws -> ChangeToken? {
    let response = await answer(
      "POST", "private/changes/zone",
      body: #"{"zones": [{"zoneID": {"zoneName": "_defaultZone"}}]}"#)
    guard case .data(let body) = response.body else { return nil }
    let token = try JSONValue(parsing: body)["zones"]?.array?.first?["syncToken"]?.string
    return try token.map { try ChangeToken($0, sealedBy: store.secrets.tokens) }
  }

  func stop() async {
    await service.stop()
    await store.close()
  }
}

/// A service for many inputs, which is made anew now and then, so that what an input meets depends
/// on few before it.
actor AttackedServices {
  static let shared = AttackedServices()

  private static let inputsPerService = 256
  private var current: AttackedService?
  /// The shares in the current service; nil before an input needs them.
  private var currentShares: AttackedShares?
  private var inputs = 0

  func service() async throws -> AttackedService {
    if let current, inputs < Self.inputsPerService {
      inputs += 1
      return current
    }
    await current?.stop()
    let service = try await AttackedService()
    (current, currentShares, inputs) = (service, nil, 1)
    return service
  }

  func shares() async throws -> AttackedShares {
    let service = try await service()
    if let currentShares { return currentShares }
    let shares = try await AttackedShares(in: service)
    currentShares = shares
    return shares
  }
}

extension HTTPResponse {
  /// Throws unless the answer is one that the protocol has: a server never blames itself for what
  /// others send.
  func check() throws {
    try hold((200..<600).contains(status), "the status is \(status)")
    for (name, value) in headers {
      try hold(
        (name + value).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F },
        "no line breaks in the header field \(name): \(value)")
    }
    guard case .data(let body) = body else { return }
    let text = String(decoding: body.prefix(2_000), as: UTF8.self)
    try hold(status < 500 || status == 503, "the status is \(status): \(text)")
    let type = headers.first { $0.0 == "Content-Type" }?.1 ?? ""
    guard type.hasPrefix("application/json") else { return }
    let json = try must("the answer is JSON") { try JSONValue(parsing: body) }
    try hold(
      (try? JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed)) != nil,
      "the answer is JSON to others too: \(text)")
    if status >= 400 {
      try hold(json["serverErrorCode"]?.string != nil, "an error has a code: \(text)")
    }
    try Self.checkErrors(in: json)
  }

  private static func checkErrors(in json: JSONValue) throws {
    switch json {
    case .array(let elements): for element in elements { try checkErrors(in: element) }
    case .object(let members):
      if let code = members["serverErrorCode"]?.string {
        try hold(documented.contains(code), "the code \(code) is documented: \(json.text)")
        try hold(members["reason"]?.string?.isEmpty == false, "an error has a reason: \(json.text)")
        try hold(members["uuid"]?.string != nil, "an error has a name: \(json.text)")
        return
      }
      for member in members.values { try checkErrors(in: member) }
    default: break
    }
  }

  private static let documented: Set<String> = Set(
    [
      ServerErrorCode.accessDenied, .atomicError, .authenticationFailed, .authenticationRequired,
      .badRequest, .conflict, .exists, .notFound, .quotaExceeded, .throttled, .tryAgainLater,
      .validatingReferenceError, .zoneNotFound, .uniqueFieldError,
    ].map(\.rawValue))
}
