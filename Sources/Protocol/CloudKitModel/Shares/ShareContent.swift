/// The content of a share, a record of type `cloudkit.share`, in addition to the record's fields.
public struct ShareContent: Sendable, Hashable {
  /// The record type of shares.
  public static let recordType = "cloudkit.share"
  /// The name of the record that shares a whole zone (`CKRecordNameZoneWideShare`).
  public static let zoneShareName = "cloudkit.zoneshare"

  /// The record at the top of the shared hierarchy.
  public struct Root: Sendable, Hashable {
    /// The name of the root record.
    public var recordName: String
    /// The version of the root record that the client knows; nil when the client does not say.
    public var recordChangeTag: String?

    /// Creates the root of a share.
    public init(recordName: String, recordChangeTag: String? = nil) {
      self.recordName = recordName
      self.recordChangeTag = recordChangeTag
    }
  }

  /// The root of the shared hierarchy. It is nil for the share of a whole zone, and in answers.
  public var root: Root?
  /// The permission of every user who has the share's URL. In a request, nil leaves the permission
  /// as it is; a new share then has none.
  public var publicPermission: SharePermission?
  /// The participants of the share. In a request, a list without one of them removes that
  /// participant, and nil leaves the list as it is.
  public var participants: [ShareParticipant]?
  /// The participant who owns the shared records; nil in requests.
  public var owner: ShareParticipant?
  /// The participant who makes the request; nil in requests.
  public var currentParticipant: ShareParticipant?
  /// The identifier of the share, which is the last part of the share's URL.
  public var shortGUID: String?
  /// The URL at which participants open the share (`webpageURL`).
  public var url: String?
  /// Whether users who are not invited are kept from requesting access (`denyAccessRequests`). Nil
  /// leaves the setting as it is; a new share then denies requests.
  public var deniesAccessRequests: Bool?
  /// The users who have requested access and have no answer yet. In a request, a list without one of
  /// them denies that user's request, and nil leaves the list as it is.
  public var requesters: [UserIdentity]?
  /// The users whose requests for access the server ignores. In a request, a list without one of
  /// them unblocks that user, and nil leaves the list as it is.
  public var blocked: [UserIdentity]?
  /// The links for a single use. Nil leaves the links as they are.
  public var oneTimeLinks: [OneTimeLink]?

  /// A link with which the first user who opens it joins the share as a given participant.
  public struct OneTimeLink: Sendable, Hashable {
    /// The identifiers of the participants whom the link is for.
    public var participantIDs: [String]
    /// The URL. If it is nil in a request, the server makes a link.
    public var url: String?

    /// Creates a link, or the request for one.
    public init(participantIDs: [String], url: String? = nil) {
      self.participantIDs = participantIDs
      self.url = url
    }
  }

  /// Creates the content of a share, or a request that changes no property which it does not name.
  public init(
    root: Root? = nil, publicPermission: SharePermission? = nil,
    participants: [ShareParticipant]? = nil, owner: ShareParticipant? = nil,
    currentParticipant: ShareParticipant? = nil, shortGUID: String? = nil, url: String? = nil,
    deniesAccessRequests: Bool? = nil, requesters: [UserIdentity]? = nil,
    blocked: [UserIdentity]? = nil, oneTimeLinks: [OneTimeLink]? = nil
  ) {
    self.root = root
    self.publicPermission = publicPermission
    self.participants = participants
    self.owner = owner
    self.currentParticipant = currentParticipant
    self.shortGUID = shortGUID
    self.url = url
    self.deniesAccessRequests = deniesAccessRequests
    self.requesters = requesters
    self.blocked = blocked
    self.oneTimeLinks = oneTimeLinks
  }
}

/// A user who takes part in a share, or who is invited to it.
public struct ShareParticipant: Sendable, Hashable {
  /// The identifier of the participant in the share; nil when the client sends none.
  public var participantID: String?
  /// The role of the participant in the share.
  public var role: ShareRole
  /// The permission of the participant for the shared records.
  public var permission: SharePermission
  /// The participant's answer to the invitation.
  public var acceptance: ShareAcceptance
  /// The identity of the participant: a user, or an address to invite.
  public var identity: UserIdentity
  /// A URL for a single use: the first user who opens the URL joins the share as this participant.
  /// The value is nil for a participant without such a URL.
  public var oneTimeURL: String?
  /// Whether the participant had requested access before being added.
  public var isApprovedRequester: Bool
  /// The time of the save that added the participant; nil in requests.
  public var added: Timestamp?

  /// Creates a participant.
  public init(
    participantID: String? = nil, role: ShareRole, permission: SharePermission,
    acceptance: ShareAcceptance, identity: UserIdentity, oneTimeURL: String? = nil,
    isApprovedRequester: Bool = false, added: Timestamp? = nil
  ) {
    self.participantID = participantID
    self.role = role
    self.permission = permission
    self.acceptance = acceptance
    self.identity = identity
    self.oneTimeURL = oneTimeURL
    self.isApprovedRequester = isApprovedRequester
    self.added = added
  }
}

/// The permission of a participant for the shared records. The raw values are the web-services
/// names.
public enum SharePermission: String, Sendable, Hashable, CaseIterable {
  /// A permission that this version does not know.
  case unknown = "UNKNOWN"
  /// No permission.
  case none = "NONE"
  /// The permission to read the shared records.
  case readOnly = "READ_ONLY"
  /// The permission to read and to change the shared records.
  case readWrite = "READ_WRITE"
}

/// The role of a participant in a share. The raw values are the web-services names.
public enum ShareRole: String, Sendable, Hashable, CaseIterable {
  /// A role that this version does not know.
  case unknown = "UNKNOWN"
  /// The owner of the shared records.
  case owner = "OWNER"
  /// A participant who may manage the other participants.
  case administrator = "ADMINISTRATOR"
  /// A participant whom the owner invited.
  case privateUser = "USER"
  /// A participant who joined with the URL of a public share.
  case publicUser = "PUBLIC_USER"
}

/// The answer of a participant to the invitation. The raw values are the web-services names.
public enum ShareAcceptance: String, Sendable, Hashable, CaseIterable {
  /// An answer that this version does not know.
  case unknown = "UNKNOWN"
  /// The participant is invited and has not accepted yet.
  case pending = "INVITED"
  /// The participant has accepted.
  case accepted = "ACCEPTED"
  /// The participant was removed from the share.
  case removed = "REMOVED"
}
