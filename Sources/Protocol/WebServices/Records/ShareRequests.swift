import CloudKitModel
import JSONCoding

/// The body of `records/resolve` and `records/accept`: the shares whose description the client
/// needs, or that the user accepts.
///
/// ```
/// { "shortGUIDs": [ { "value": "0a1B2c…", "shouldFetchRootRecord": true } ] }
/// ```
///
/// An item may also be the identifier alone, as in `{ "shortGUIDs": [ "0a1B2c…" ] }`.
public struct ResolveSharesRequest: Sendable, Hashable {
  /// A share of the request.
  public struct Item: Sendable, Hashable {
    /// The identifier of the share, the last part of its URL.
    public var shortGUID: String
    /// Whether the answer contains the root record.
    public var fetchesRootRecord: Bool
    /// The fields of the root record in the answer; nil means all.
    public var rootRecordDesiredKeys: [String]?

    /// Creates an item.
    public init(
      shortGUID: String, fetchesRootRecord: Bool = false, rootRecordDesiredKeys: [String]? = nil
    ) {
      self.shortGUID = shortGUID
      self.fetchesRootRecord = fetchesRootRecord
      self.rootRecordDesiredKeys = rootRecordDesiredKeys
    }
  }

  /// The shares, at most `ServiceLimits.operationsPerRequest`.
  public var items: [Item]

  /// Creates a request.
  public init(items: [Item]) {
    self.items = items
  }
}

extension ResolveSharesRequest: Message, MessageObject {
  package static let blank = ResolveSharesRequest(items: [])

  package var approximateSize: Int { 64 * (items.count + 1) }

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.list("shortGUIDs", &items, count: 0...ServiceLimits.operationsPerRequest)
  }
}

extension ResolveSharesRequest.Item: MessageObject {
  package static let blank = ResolveSharesRequest.Item(shortGUID: "")

  package init(_ reader: MessageReader) throws(ServiceError) {
    self = Self.blank
    if reader.node.string != nil {
      shortGUID = try reader.string()
    } else {
      try readMembers(reader)
    }
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    shortGUIDSchema(of: Self.self, in: scope)
  }

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("value", &shortGUID)
    try coder.optional("shouldFetchRootRecord", &fetchesRootRecord, default: false)
    try coder.optional("rootRecordDesiredKeys", &rootRecordDesiredKeys)
  }
}

/// Returns the schema of an object that names a share. In requests the identifier may stand in the
/// place of the object.
private func shortGUIDSchema<Item: MessageObject>(
  of type: Item.Type, in scope: SchemaScope
) -> JSONSchema {
  let members = MessageDescriber.members(of: type, in: scope)
  return switch scope.direction {
  case .requests: .any(of: [.text, .object(members, isOpen: true)])
  case .answers: .object(members)
  }
}

/// The answer of `records/resolve` and `records/accept`.
public struct SharesResponse: Sendable, Hashable {
  /// A share as the caller sees it.
  public struct Share: Sendable, Hashable {
    /// The identifier of the share, the last part of its URL.
    public var shortGUID: String
    /// The identifier of the share's container.
    public var containerIdentifier: String
    /// The environment of the container.
    public var environment: ContainerEnvironment
    /// The database in which the caller sees the shared records: `private` for the owner, `shared`
    /// for others.
    public var databaseScope: DatabaseScope
    /// The zone of the shared records, with its owner's record name.
    public var zoneID: ZoneID
    /// The name of the root record; nil for the share of a whole zone.
    public var rootRecordName: String?
    /// The root record, if the request asked for it.
    public var rootRecord: Record?
    /// The share itself, a record of type `cloudkit.share`.
    public var share: Record
    /// The owner of the shared records.
    public var ownerIdentity: UserIdentity
    /// The caller's permission for the shared records.
    public var permission: SharePermission
    /// The caller's answer to the invitation.
    public var acceptance: ShareAcceptance
    /// The caller's role in the share.
    public var role: ShareRole
    /// The URL at which participants open the share (`webpageURL`).
    public var url: String?

    /// Creates a share.
    public init(
      shortGUID: String, containerIdentifier: String, environment: ContainerEnvironment,
      databaseScope: DatabaseScope, zoneID: ZoneID, rootRecordName: String?,
      rootRecord: Record? = nil, share: Record, ownerIdentity: UserIdentity,
      permission: SharePermission, acceptance: ShareAcceptance, role: ShareRole,
      url: String? = nil
    ) {
      self.shortGUID = shortGUID
      self.containerIdentifier = containerIdentifier
      self.environment = environment
      self.databaseScope = databaseScope
      self.zoneID = zoneID
      self.rootRecordName = rootRecordName
      self.rootRecord = rootRecord
      self.share = share
      self.ownerIdentity = ownerIdentity
      self.permission = permission
      self.acceptance = acceptance
      self.role = role
      self.url = url
    }
  }

  /// The shares, and the errors of items that failed, in the order of the request.
  public var results: [Result<Share, FailedItem>]

  /// Creates an answer.
  public init(results: [Result<Share, FailedItem>]) {
    self.results = results
  }
}

// The zones belong to other users, so the messages must name the owners. The default context of
// messages, `withoutZones`, writes owner names unchanged.
extension SharesResponse: Message, MessageObject {
  package static let blank = SharesResponse(results: [])

  package var approximateSize: Int { 512 * (results.count + 1) }

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("results", &results, "One item for each short GUID, in order.")
  }
}

extension ContainerEnvironment: MessagePart {}

extension SharesResponse.Share: MessageObject {
  package static let blank = SharesResponse.Share(
    shortGUID: "", containerIdentifier: "", environment: .production, databaseScope: .shared,
    zoneID: .default, rootRecordName: nil, share: .blank, ownerIdentity: UserIdentity(),
    permission: .none, acceptance: .unknown, role: .unknown)

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var name = ShortGUID(value: shortGUID)
    try coder.required("shortGUID", &name)
    shortGUID = name.value
    try coder.required("containerIdentifier", &containerIdentifier)
    try coder.written("environment", &environment)
    var scope = Scope(value: databaseScope)
    try coder.written("databaseScope", &scope)
    databaseScope = scope.value
    try coder.required("zoneID", &zoneID)
    try coder.optional("rootRecordName", &rootRecordName)
    try coder.optional("rootRecord", &rootRecord, "Only if the request asked for it.")
    try coder.required("share", &share)
    try coder.required("ownerIdentity", &ownerIdentity)
    try coder.required("participantPermission", &permission)
    try coder.required("participantStatus", &acceptance)
    try coder.required("participantType", &role)
    try coder.optional("webpageURL", &url)
    var none = IgnoredList()
    try coder.written("ancestorRecords", &none, "Always empty.")
    try coder.written("potentialMatchList", &none, "Always empty.")
  }

  /// The scope of a database on the wire, such as `SHARED`.
  private struct Scope: MessagePart {
    var value: DatabaseScope

    init(value: DatabaseScope) { self.value = value }

    init(_ reader: MessageReader) throws(ServiceError) {
      let word = try reader.string()
      guard let value = DatabaseScope.allCases.first(where: { Self.word(for: $0) == word }) else {
        throw reader.mistake("'\(word)' must be one of " + Self.words.joined(separator: ", "))
      }
      self.value = value
    }

    func write(to writer: inout JSONWriter, context: MessageContext) {
      writer.value(Self.word(for: value))
    }

    static func schema(in scope: SchemaScope) -> JSONSchema { .word(words) }

    private static var words: [String] { DatabaseScope.allCases.map { word(for: $0) } }

    private static func word(for scope: DatabaseScope) -> String {
      scope.pathComponent.uppercased()
    }
  }

  /// A list that is written empty. Its elements are not read.
  private struct IgnoredList: MessagePart {
    init() {}
    init(_ reader: MessageReader) {}
    func write(to writer: inout JSONWriter, context: MessageContext) { writer.array { _ in } }
    static func schema(in scope: SchemaScope) -> JSONSchema { .list(JSONSchema([:]), count: 0...0) }
  }
}

/// The object that contains a short GUID on the wire: `{ "value": "0a1B2c…" }`. In requests, the
/// identifier alone is read too.
private struct ShortGUID: MessageObject {
  var value: String

  static let blank = ShortGUID(value: "")

  init(value: String) { self.value = value }

  init(_ reader: MessageReader) throws(ServiceError) {
    self = Self.blank
    if reader.node.string != nil {
      value = try reader.string()
    } else {
      try readMembers(reader)
    }
  }

  static func schema(in scope: SchemaScope) -> JSONSchema {
    shortGUIDSchema(of: Self.self, in: scope)
  }

  mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("value", &value)
  }
}

// MARK: Requests for access

/// The body of `records/requestAccess`, an operation of Petrel's own: the shares to which the caller
/// requests access.
///
/// ```
/// { "shortGUIDs": [ { "value": "0a1B2c…" } ] }
/// ```
///
/// An item may also be the identifier alone.
public struct RequestAccessRequest: Sendable, Hashable {
  /// The identifiers of the shares, at most `ServiceLimits.operationsPerRequest`.
  public var shortGUIDs: [String]

  /// Creates a request.
  public init(shortGUIDs: [String]) {
    self.shortGUIDs = shortGUIDs
  }
}

extension RequestAccessRequest: Message, MessageObject {
  package static let blank = RequestAccessRequest(shortGUIDs: [])

  package var approximateSize: Int { 64 * (shortGUIDs.count + 1) }

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var names = shortGUIDs.map { ShortGUID(value: $0) }
    try coder.list("shortGUIDs", &names, count: 0...ServiceLimits.operationsPerRequest)
    shortGUIDs = names.map(\.value)
  }
}

/// The answer of `records/requestAccess`.
///
/// A success only says that the server has received the request. It is the same whether the share
/// exists or not.
public struct RequestAccessResponse: Sendable, Hashable {
  /// A share to which access was requested.
  public struct Item: Sendable, Hashable {
    /// The identifier of the share.
    public var shortGUID: String

    /// Creates an item.
    public init(shortGUID: String) {
      self.shortGUID = shortGUID
    }
  }

  /// The shares, and the errors of items that failed, in the order of the request.
  public var results: [Result<Item, FailedItem>]

  /// Creates an answer.
  public init(results: [Result<Item, FailedItem>]) {
    self.results = results
  }
}

extension RequestAccessResponse: Message, MessageObject {
  package static let blank = RequestAccessResponse(results: [])

  package var approximateSize: Int { 64 * (results.count + 1) }

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("results", &results, "One item for each short GUID, in order.")
  }
}

extension RequestAccessResponse.Item: MessageObject {
  package static let blank = RequestAccessResponse.Item(shortGUID: "")

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var name = ShortGUID(value: shortGUID)
    try coder.required("shortGUID", &name)
    shortGUID = name.value
  }
}
