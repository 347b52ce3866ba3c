import CloudKitModel

/// The body of `records/resolve` and `records/accept`.
public struct ResolveSharesRequest: Sendable, Hashable {
  /// One share to look at or to accept.
  public struct Item: Sendable, Hashable {
    /// The last part of the share's URL.
    public var shortGUID: String
    public var fetchesRootRecord: Bool
    /// The fields of the root record; nil means all.
    public var rootRecordDesiredKeys: [String]?

    public init(
      shortGUID: String, fetchesRootRecord: Bool = false, rootRecordDesiredKeys: [String]? = nil
    ) {
      self.shortGUID = shortGUID
      self.fetchesRootRecord = fetchesRootRecord
      self.rootRecordDesiredKeys = rootRecordDesiredKeys
    }
  }

  /// In order.
  public var items: [Item]

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
    public var shortGUID: String
    public var containerIdentifier: String
    public var zoneID: ZoneID
    /// Nil for the share of a whole zone.
    public var rootRecordName: String?
    /// Only where it was asked for.
    public var rootRecord: Record?
    /// The share's own record.
    public var share: Record
    public var ownerIdentity: UserIdentity
    public var permission: SharePermission
    public var acceptance: ShareAcceptance
    public var role: ShareRole

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

  /// In the order of the request.
  public var results: [Result<Share, FailedItem>]

  public init(results: [Result<Share, FailedItem>]) {
    self.results = results
  }
}

// The zones are other users', so owners' names stand for themselves: the context is that of messages that
// name no zones.
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
    try coder.optional("rootRecord", &rootRecord, "Where it was asked for.")
    try coder.required("share", &share)
    try coder.required("ownerIdentity", &ownerIdentity)
    try coder.required("participantPermission", &permission)
    try coder.required("participantStatus", &acceptance)
    try coder.required("participantType", &role)
  }

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
