import CloudKitModel

/// The body of `records/resolve` and `records/accept`: the shares whose description the client
/// needs, or that the user accepts.
///
/// ```
/// { "shortGUIDs": [ { "value": "0a1B2c…", "shouldFetchRootRecord": true } ] }
/// ```
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

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("value", &shortGUID)
    try coder.optional("shouldFetchRootRecord", &fetchesRootRecord, default: false)
    try coder.optional("rootRecordDesiredKeys", &rootRecordDesiredKeys)
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

    /// Creates a share.
    public init(
      shortGUID: String, containerIdentifier: String, zoneID: ZoneID, rootRecordName: String?,
      rootRecord: Record? = nil, share: Record, ownerIdentity: UserIdentity,
      permission: SharePermission, acceptance: ShareAcceptance, role: ShareRole
    ) {
      self.shortGUID = shortGUID
      self.containerIdentifier = containerIdentifier
      self.zoneID = zoneID
      self.rootRecordName = rootRecordName
      self.rootRecord = rootRecord
      self.share = share
      self.ownerIdentity = ownerIdentity
      self.permission = permission
      self.acceptance = acceptance
      self.role = role
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

extension SharesResponse.Share: MessageObject {
  package static let blank = SharesResponse.Share(
    shortGUID: "", containerIdentifier: "", zoneID: .default, rootRecordName: nil,
    share: .blank, ownerIdentity: UserIdentity(), permission: .none, acceptance: .unknown,
    role: .unknown)

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var name = ShortGUID(value: shortGUID)
    try coder.required("shortGUID", &name)
    shortGUID = name.value
    try coder.required("containerIdentifier", &containerIdentifier)
    try coder.required("zoneID", &zoneID)
    try coder.optional("rootRecordName", &rootRecordName)
    try coder.optional("rootRecord", &rootRecord, "Only if the request asked for it.")
    try coder.required("share", &share)
    try coder.required("ownerIdentity", &ownerIdentity)
    try coder.required("participantPermission", &permission)
    try coder.required("participantStatus", &acceptance)
    try coder.required("participantType", &role)
  }

  /// The object that contains a short GUID on the wire.
  private struct ShortGUID: MessageObject {
    var value: String

    static let blank = ShortGUID(value: "")

    mutating func code<Coder: MessageCoder & ~Copyable>(
      _ coder: inout Coder
    ) throws(Coder.Failure) {
      try coder.required("value", &value)
    }
  }
}
