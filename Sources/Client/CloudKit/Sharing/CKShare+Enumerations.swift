extension CKShare {
  /// The state of a participant's invitation. The raw values are those of Apple's framework.
  public enum ParticipantAcceptanceStatus: Int, Sendable {
    /// The state is not known.
    case unknown = 0
    /// The participant was invited and has not answered.
    case pending = 1
    /// The participant accepted the share.
    case accepted = 2
    /// The participant was removed or left.
    case removed = 3
  }

  /// The rights of a participant to the shared records. The raw values are those of Apple's
  /// framework.
  public enum ParticipantPermission: Int, Sendable {
    /// The rights are not known.
    case unknown = 0
    /// The participant has no access.
    case none = 1
    /// The participant can read the records.
    case readOnly = 2
    /// The participant can read, create, change and delete records.
    case readWrite = 3
  }

  /// The role of a participant in the share. The raw values are those of Apple's framework.
  public enum ParticipantRole: Int, Sendable {
    /// The role is not known.
    case unknown = 0
    /// The user who made the share.
    case owner = 1
    /// A participant who can manage the other participants.
    case administrator = 2
    /// A participant who was invited.
    case privateUser = 3
    /// A participant who joined with the URL of a share that has a public permission.
    case publicUser = 4
  }

  /// The former name of ``ParticipantRole``. It has no administrator: an administrator's value is
  /// ``unknown``.
  @available(*, deprecated, renamed: "CKShare.ParticipantRole")
  public enum ParticipantType: Int, Sendable {
    /// The role is not known.
    case unknown = 0
    /// The user who made the share.
    case owner = 1
    /// A participant who was invited.
    case privateUser = 3
    /// A participant who joined with the URL of a share that has a public permission.
    case publicUser = 4
  }

  /// Names of fields of a share. An invitation shows their values.
  public enum SystemFieldKey {
    /// The title, a text.
    public static let title: CKRecord.FieldKey = "cloudkit.title"
    /// The thumbnail, the data of an image.
    public static let thumbnailImageData: CKRecord.FieldKey = "cloudkit.thumbnailImageData"
    /// The type of the content, a uniform type identifier.
    public static let shareType: CKRecord.FieldKey = "cloudkit.type"
  }
}

extension CKShareParticipant {
  /// The type of ``acceptanceStatus``.
  public typealias AcceptanceStatus = CKShare.ParticipantAcceptanceStatus
  /// The type of ``permission``.
  public typealias Permission = CKShare.ParticipantPermission
  /// The type of ``role``.
  public typealias Role = CKShare.ParticipantRole
  /// The type of ``participantID``.
  public typealias ID = String
  /// The type of the deprecated property ``type``.
  @available(*, deprecated, renamed: "CKShare.ParticipantRole")
  public typealias ParticipantType = CKShare.ParticipantType
}
