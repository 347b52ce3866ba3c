extension CKShare {
  /// Whether a participant has accepted the share.
  public enum ParticipantAcceptanceStatus: Int, Sendable {
    case unknown = 0
    /// Invited, and has not answered.
    case pending = 1
    case accepted = 2
    /// Was removed, or left.
    case removed = 3
  }

  /// What a participant may do with the shared records.
  public enum ParticipantPermission: Int, Sendable {
    case unknown = 0
    case none = 1
    case readOnly = 2
    case readWrite = 3
  }

  /// What a participant is to the share.
  public enum ParticipantRole: Int, Sendable {
    case unknown = 0
    case owner = 1
    /// May manage the participants.
    case administrator = 2
    /// Was invited.
    case privateUser = 3
    /// Came with the URL of a share that has a public permission.
    case publicUser = 4
  }

  /// What a participant is to the share, as before there were roles.
  @available(*, deprecated, renamed: "CKShare.ParticipantRole")
  public enum ParticipantType: Int, Sendable {
    case unknown = 0
    case owner = 1
    case privateUser = 3
    case publicUser = 4
  }

  /// The fields that say what is shared, for showing it to those who are invited.
  public enum SystemFieldKey {
    /// A string.
    public static let title: CKRecord.FieldKey = "cloudkit.title"
    /// The data of an image.
    public static let thumbnailImageData: CKRecord.FieldKey = "cloudkit.thumbnailImageData"
    /// A uniform type identifier.
    public static let shareType: CKRecord.FieldKey = "cloudkit.type"
  }
}

extension CKShareParticipant {
  public typealias AcceptanceStatus = CKShare.ParticipantAcceptanceStatus
  public typealias Permission = CKShare.ParticipantPermission
  public typealias Role = CKShare.ParticipantRole
  /// What ``participantID`` is.
  public typealias ID = String
  @available(*, deprecated, renamed: "CKShare.ParticipantRole")
  public typealias ParticipantType = CKShare.ParticipantType
}
