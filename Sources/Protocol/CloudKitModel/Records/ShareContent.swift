/// What a record of type `cloudkit.share` has beyond its fields.
public struct ShareContent: Sendable, Hashable {
  /// The type of the records that are shares.
  public static let recordType = "cloudkit.share"

  /// The record at the top of the hierarchy that is shared.
  public struct Root: Sendable, Hashable {
    public var recordName: String
    public var recordChangeTag: String?

    public init(recordName: String, recordChangeTag: String? = nil) {
      self.recordName = recordName
      self.recordChangeTag = recordChangeTag
    }
  }

  /// Nil for the share of a whole zone, and in answers.
  public var root: Root?
  /// What everyone may do who has the URL.
  public var publicPermission: SharePermission
  public var participants: [ShareParticipant]
  public var owner: ShareParticipant?
  /// The participant who asks.
  public var currentParticipant: ShareParticipant?
  /// Names the share in its URL; the server makes it.
  public var shortGUID: String?
  /// Where participants open the share.
  public var url: String?

  public init(
    root: Root? = nil, publicPermission: SharePermission = .none,
    participants: [ShareParticipant] = [], owner: ShareParticipant? = nil,
    currentParticipant: ShareParticipant? = nil, shortGUID: String? = nil, url: String? = nil
  ) {
    self.root = root
    self.publicPermission = publicPermission
    self.participants = participants
    self.owner = owner
    self.currentParticipant = currentParticipant
    self.shortGUID = shortGUID
    self.url = url
  }
}

/// One of those who share.
public struct ShareParticipant: Sendable, Hashable {
  public var participantID: String?
  public var role: ShareRole
  public var permission: SharePermission
  public var acceptance: ShareAcceptance
  public var identity: UserIdentity
  /// A URL that admits whoever uses it first as this participant.
  public var oneTimeURL: String?

  public init(
    participantID: String? = nil, role: ShareRole, permission: SharePermission,
    acceptance: ShareAcceptance, identity: UserIdentity, oneTimeURL: String? = nil
  ) {
    self.participantID = participantID
    self.role = role
    self.permission = permission
    self.acceptance = acceptance
    self.identity = identity
    self.oneTimeURL = oneTimeURL
  }
}

/// What a participant may do. The raw values are the web-services names.
public enum SharePermission: String, Sendable, Hashable, CaseIterable {
  case unknown = "UNKNOWN"
  case none = "NONE"
  case readOnly = "READ_ONLY"
  case readWrite = "READ_WRITE"
}

/// What a participant is to a share. The raw values are the web-services names.
public enum ShareRole: String, Sendable, Hashable, CaseIterable {
  case unknown = "UNKNOWN"
  case owner = "OWNER"
  case administrator = "ADMINISTRATOR"
  case privateUser = "USER"
  case publicUser = "PUBLIC_USER"
}

/// Whether a participant has accepted. The raw values are the web-services names.
public enum ShareAcceptance: String, Sendable, Hashable, CaseIterable {
  case unknown = "UNKNOWN"
  case pending = "INVITED"
  case accepted = "ACCEPTED"
  case removed = "REMOVED"
}
