/// A record that lets others take part in a record hierarchy or a zone of one's private database.
///
/// Make it for a root record or for a zone, add participants or set a public permission, and save
/// it, together with its root record, in one operation. Shares need a zone of one's own.
///
/// - Note: Petrel's server refuses shares for now, with `serverRejectedRequest`.
open class CKShare: CKRecord, @unchecked Sendable {
  public typealias Metadata = CKShareMetadata
  public typealias Participant = CKShareParticipant

  let sharing: Locked<Sharing>

  /// A share of a record and all that have it as their parent, directly or not.
  public convenience init(rootRecord: CKRecord) {
    self.init(
      rootRecord: rootRecord,
      shareID: CKRecord.ID(
        recordName: "Share-\(UUID().uuidString)", zoneID: rootRecord.recordID.zoneID))
  }

  /// A share of a record and all that have it as their parent, with an ID of your own.
  ///
  /// - Precondition: the ID lies in the record's zone.
  public init(rootRecord: CKRecord, shareID: CKRecord.ID) {
    requireArgument(
      shareID.zoneID == rootRecord.recordID.zoneID,
      "CKShare: the share '\(shareID.recordName)' must lie in the zone of its root record")
    sharing = Locked(Sharing(root: rootRecord.recordID))
    sharing.withLock { $0.rootChangeTag = rootRecord.recordChangeTag }
    super.init(recordType: SystemType.share, recordID: shareID)
  }

  /// A share of a whole zone.
  public init(recordZoneID: CKRecordZone.ID) {
    sharing = Locked(Sharing(root: nil))
    super.init(
      recordType: SystemType.share,
      recordID: CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: recordZoneID))
  }

  init(recordID: CKRecord.ID, system: SystemFields, contents: Contents, sharing: Sharing) {
    self.sharing = Locked(sharing)
    super.init(
      recordType: SystemType.share, recordID: recordID, system: system, contents: contents)
  }

  // MARK: Participants

  /// What everyone may do who has the URL. `.none`, the default, admits only those who are added;
  /// setting another one removes the participants who came with the URL.
  open var publicPermission: CKShare.ParticipantPermission {
    get { sharing.withLock { $0.publicPermission } }
    set { sharing.withLock { $0.publicPermission = newValue } }
  }

  /// Where participants open the share; nil before it is saved.
  open var url: URL? { sharing.withLock { $0.url } }

  /// All who share, the owner among them.
  open var participants: [CKShare.Participant] { sharing.withLock { $0.participants } }

  open var owner: CKShare.Participant { sharing.withLock { $0.owner } }

  /// The participant that the current user is; nil when the user is none.
  open var currentUserParticipant: CKShare.Participant? {
    sharing.withLock { $0.currentUserParticipant }
  }

  /// Adds a participant. One who is there already gets the role and the permission of the new one.
  open func addParticipant(_ participant: CKShare.Participant) {
    sharing.withLock { $0.add(participant) }
  }

  /// Removes a participant; does nothing when there is none.
  ///
  /// - Precondition: it is not the owner.
  open func removeParticipant(_ participant: CKShare.Participant) {
    requireArgument(
      !participant.isEqual(owner), "CKShare: the owner cannot be removed from a share")
    sharing.withLock { $0.participants.removeAll { $0.isEqual(participant) } }
  }

  /// Where the participant with this ID, made by `oneTimeURLParticipant()`, joins the share; nil
  /// before the share is saved, and for other participants.
  open func oneTimeURL(for participantID: CKShare.Participant.ID) -> URL? {
    participants.first { $0.participantID == participantID }?.oneTimeURL
  }

  // MARK: Archiving and copying

  /// A share from an archive: all of it, or its system fields.
  public required init(coder: NSCoder) {
    sharing = Locked(Sharing(coder: coder))
    super.init(decoding: coder)
  }

  open override func encodeSystemFields(with coder: NSCoder) {
    super.encodeSystemFields(with: coder)
    sharing.withLock { $0 }.encode(with: coder)
  }

  /// A share of its own with the same fields and copies of the participants.
  open override func copy(with zone: NSZone? = nil) -> Any {
    CKShare(
      recordID: recordID, system: systemFields, contents: contents.withLock { $0 },
      sharing: sharing.withLock { $0.copy() })
  }

  open override var description: String {
    "<CKShare: \(recordID.recordName), zone \(recordID.zoneID.zoneName), "
      + "\(participants.count) participants, public permission \(publicPermission)>"
  }
}
