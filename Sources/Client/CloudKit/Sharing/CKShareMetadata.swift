internal import CloudKitModel
internal import WebServices

/// What someone who has a share's URL may know of it: `CKShare.Metadata`. Immutable; the framework
/// makes it. Accept the share with it: `CKAcceptSharesOperation`, `CKContainer.accept(_:)`.
///
/// Two are equal when they are of the same share.
open class CKShareMetadata: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The container that the share lies in.
  open var containerIdentifier: String { storedContainerIdentifier }
  open var share: CKShare { storedShare }
  /// The record at the top of what is shared; nil for the share of a zone.
  open var hierarchicalRootRecordID: CKRecord.ID? { storedHierarchicalRootRecordID }
  /// What the current user is to the share.
  open var participantRole: CKShare.ParticipantRole { storedParticipantRole }
  open var participantStatus: CKShare.ParticipantAcceptanceStatus { storedParticipantStatus }
  open var participantPermission: CKShare.ParticipantPermission { storedParticipantPermission }
  open var ownerIdentity: CKUserIdentity { storedOwnerIdentity }
  /// The record at the top of what is shared, when the operation was told to fetch it.
  open var rootRecord: CKRecord? { storedRootRecord }

  @available(*, deprecated, renamed: "hierarchicalRootRecordID")
  open var rootRecordID: CKRecord.ID { hierarchicalRootRecordID ?? share.recordID }

  @available(*, deprecated, renamed: "participantRole")
  open var participantType: CKShare.ParticipantType {
    CKShare.ParticipantType(rawValue: participantRole.rawValue) ?? .unknown
  }

  private let storedContainerIdentifier: String
  private let storedShare: CKShare
  private let storedHierarchicalRootRecordID: CKRecord.ID?
  private let storedParticipantRole: CKShare.ParticipantRole
  private let storedParticipantStatus: CKShare.ParticipantAcceptanceStatus
  private let storedParticipantPermission: CKShare.ParticipantPermission
  private let storedOwnerIdentity: CKUserIdentity
  private let storedRootRecord: CKRecord?

  /// Metadata of no share, for the subclasses that tests make.
  public override init() {
    storedContainerIdentifier = ""
    storedShare = CKShare(recordZoneID: .default)
    storedHierarchicalRootRecordID = nil
    storedParticipantRole = .unknown
    storedParticipantStatus = .unknown
    storedParticipantPermission = .unknown
    storedOwnerIdentity = CKUserIdentity(UserIdentity())
    storedRootRecord = nil
  }

  init?(_ model: SharesResponse.Share) {
    guard let share = CKRecord(model.share) as? CKShare else { return nil }
    storedContainerIdentifier = model.containerIdentifier
    storedShare = share
    storedHierarchicalRootRecordID = model.rootRecordName.map {
      CKRecord.ID(RecordID(recordName: $0, zoneID: model.zoneID))
    }
    storedParticipantRole = .init(model.role)
    storedParticipantStatus = .init(model.acceptance)
    storedParticipantPermission = .init(model.permission)
    storedOwnerIdentity = CKUserIdentity(model.ownerIdentity)
    storedRootRecord = model.rootRecord.map { CKRecord($0) }
  }

  open class var supportsSecureCoding: Bool { true }

  public required init?(coder: NSCoder) {
    guard
      let containerIdentifier = coder.decodeOptionalString(forKey: "containerIdentifier"),
      let share = coder.decodeOptional(CKShare.self, forKey: "share"),
      let ownerIdentity = coder.decodeOptional(CKUserIdentity.self, forKey: "ownerIdentity")
    else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    storedContainerIdentifier = containerIdentifier
    storedShare = share
    storedOwnerIdentity = ownerIdentity
    storedHierarchicalRootRecordID = coder.decodeOptional(
      CKRecordID.self, forKey: "hierarchicalRootRecordID")
    storedRootRecord = coder.decodeOptional(CKRecord.self, forKey: "rootRecord")
    storedParticipantRole =
      .init(rawValue: coder.decodeInteger(forKey: "participantRole")) ?? .unknown
    storedParticipantStatus =
      .init(rawValue: coder.decodeInteger(forKey: "participantStatus")) ?? .unknown
    storedParticipantPermission =
      .init(rawValue: coder.decodeInteger(forKey: "participantPermission")) ?? .unknown
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encodeOptional(containerIdentifier, forKey: "containerIdentifier")
    coder.encode(share, forKey: "share")
    coder.encode(ownerIdentity, forKey: "ownerIdentity")
    coder.encode(hierarchicalRootRecordID, forKey: "hierarchicalRootRecordID")
    coder.encode(rootRecord, forKey: "rootRecord")
    coder.encode(participantRole.rawValue, forKey: "participantRole")
    coder.encode(participantStatus.rawValue, forKey: "participantStatus")
    coder.encode(participantPermission.rawValue, forKey: "participantPermission")
  }

  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKShareMetadata else { return false }
    return containerIdentifier == other.containerIdentifier
      && share.recordID == other.share.recordID
  }

  open override var hash: Int { share.recordID.hash }

  open override var description: String {
    "<CKShareMetadata: \(share.recordID.recordName) in \(containerIdentifier), "
      + "\(participantRole), \(participantStatus)>"
  }
}
