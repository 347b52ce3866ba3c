extension CKShare {
  /// The state of a participant's invitation. The raw values are those of Apple's framework.
  public typealias ParticipantAcceptanceStatus = CKShareParticipantAcceptanceStatus

  /// The rights of a participant to the shared records. The raw values are those of Apple's
  /// framework.
  public typealias ParticipantPermission = CKShareParticipantPermission

  /// The role of a participant in the share. The raw values are those of Apple's framework.
  public typealias ParticipantRole = CKShareParticipantRole

  /// The former name of ``ParticipantRole``. It has no administrator: an administrator's value is
  /// `unknown`.
  @available(*, deprecated, renamed: "CKShare.ParticipantRole")
  public typealias ParticipantType = CKShareParticipantType

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
