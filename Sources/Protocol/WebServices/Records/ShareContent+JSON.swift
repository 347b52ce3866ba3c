import CloudKitModel
import JSONCoding

extension SharePermission: MessagePart {}
extension ShareRole: MessagePart {}

/// The answer to an invitation. `PENDING`, the word of Apple's reference for `INVITED`, is read too.
extension ShareAcceptance: MessagePart {
  private static let pendingWord = "PENDING"

  package init(_ reader: MessageReader) throws(ServiceError) {
    let word = try reader.string()
    let known = word == Self.pendingWord ? .pending : ShareAcceptance(rawValue: word)
    guard let known else {
      throw reader.mistake(
        "'\(word)' must be one of " + Self.allCases.map(\.rawValue).joined(separator: ", "))
    }
    self = known
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    let words = allCases.map(\.rawValue)
    return switch scope.direction {
    case .requests: .word(words + [pendingWord])
    case .answers: .word(words)
    }
  }
}

/// The members of a record of type `cloudkit.share` beside its fields.
extension ShareContent: MessageObject {
  package static let blank = ShareContent()

  /// The names of the members that the save of a share may set.
  static let requestMembers = [
    "forRecord", "publicPermission", "participants", "denyAccessRequests", "requesters", "blocked",
    "oneTimeStableUrlInfo",
  ]

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.optional("forRecord", &root, "The record at the top of the shared hierarchy.")
    try coder.optional("publicPermission", &publicPermission)
    try coder.optional("participants", &participants)
    try coder.optional("owner", &owner)
    try coder.optional("currentUserParticipant", &currentParticipant)
    try coder.optional("shortGUID", &shortGUID)
    try coder.optional("webpageURL", &url)
    try coder.optional("denyAccessRequests", &deniesAccessRequests)
    var requesters = requesters?.map { Requester(user: $0) }
    try coder.optional("requesters", &requesters, "Users who have requested access.")
    self.requesters = requesters?.map(\.user)
    var blocked = blocked?.map { Blocked(user: $0) }
    try coder.optional("blocked", &blocked, "Users whose requests for access are ignored.")
    self.blocked = blocked?.map(\.user)
    var links = oneTimeLinks.map { OneTimeLinks(links: $0) }
    try coder.optional("oneTimeStableUrlInfo", &links, "The links for a single use.")
    oneTimeLinks = links?.links
  }

  /// The object that contains a requester on the wire.
  private struct Requester: MessageObject {
    var user: UserIdentity

    static let blank = Requester(user: UserIdentity())

    mutating func code<Coder: MessageCoder & ~Copyable>(
      _ coder: inout Coder
    ) throws(Coder.Failure) {
      try coder.required("requesterInformation", &user)
    }
  }

  /// The object that contains a blocked user on the wire.
  private struct Blocked: MessageObject {
    var user: UserIdentity

    static let blank = Blocked(user: UserIdentity())

    mutating func code<Coder: MessageCoder & ~Copyable>(
      _ coder: inout Coder
    ) throws(Coder.Failure) {
      try coder.required("blockedInformation", &user)
    }
  }

  /// The object that contains the links for a single use on the wire.
  private struct OneTimeLinks: MessageObject {
    var links: [OneTimeLink]

    static let blank = OneTimeLinks(links: [])

    mutating func code<Coder: MessageCoder & ~Copyable>(
      _ coder: inout Coder
    ) throws(Coder.Failure) {
      try coder.written("oneTimeLinks", &links)
    }
  }
}

/// An element of `oneTimeLinks`.
extension ShareContent.OneTimeLink: MessageObject {
  package static let blank = ShareContent.OneTimeLink(participantIDs: [])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("participantId", &participantIDs)
    try coder.optional("sharingLink", &url, "Missing in a request for a new link.")
  }
}

/// The object `forRecord` of a request that creates a share.
extension ShareContent.Root: MessageObject {
  package static let blank = ShareContent.Root(recordName: "")

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("recordName", &recordName)
    recordName = recordName.composed
    try coder.optional("recordChangeTag", &recordChangeTag)
  }
}

/// The participant dictionary of Apple's reference, with `participantId`, `isApprovedRequester` and
/// Petrel's own `oneTimeURL` and `addedTimestamp` as optional members.
extension ShareParticipant: MessageObject {
  package static let schemaName: String? = "ShareParticipant"
  package static let blank = ShareParticipant(
    participantID: nil, role: .unknown, permission: .none, acceptance: .unknown,
    identity: UserIdentity(), oneTimeURL: nil)

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.optional("participantId", &participantID)
    try coder.required("type", &role)
    try coder.required("permission", &permission)
    try coder.written("acceptanceStatus", &acceptance)
    try coder.written("userIdentity", &identity)
    try coder.optional("oneTimeURL", &oneTimeURL)
    try coder.optional("isApprovedRequester", &isApprovedRequester, default: false)
    try coder.optional("addedTimestamp", &added)
  }
}
