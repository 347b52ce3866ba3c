/// A record that shares a hierarchy of records, or a zone, of the private database with other
/// users.
///
/// Make a share for a root record or for a custom zone. Add participants or set a public
/// permission. Save the share together with its root record in one operation. Then send ``url`` to
/// the participants.
///
/// ```swift
/// let share = CKShare(rootRecord: album)
/// share[CKShare.SystemFieldKey.title] = "Holidays"
/// share.publicPermission = .readOnly
/// let operation = CKModifyRecordsOperation(recordsToSave: [album, share])
/// operation.modifyRecordsResultBlock = { _ in send(share.url) }
/// database.add(operation)
/// ```
///
/// If ``allowsAccessRequests`` is set, users who are not invited can request access with
/// ``CKShareRequestAccessOperation``. They are then in ``requesters``. To approve one, fetch a
/// participant for ``CKShareAccessRequester/participantLookupInfo``, add it and save the share.
open class CKShare: CKRecord, @unchecked Sendable {
  /// The type of the metadata of shares.
  public typealias Metadata = CKShareMetadata
  /// The type of the participants of shares.
  public typealias Participant = CKShareParticipant
  /// The type of the users who have requested access.
  public typealias AccessRequester = CKShareAccessRequester
  /// The type of the users whose requests for access are ignored.
  public typealias BlockedIdentity = CKShareBlockedIdentity

  let sharing: Locked<Sharing>

  /// Makes a share of a record and of all records whose parents lead to it, and sets
  /// ``CKRecord/share`` of the record. The name of the share is `Share-` and a UUID.
  public convenience init(rootRecord: CKRecord) {
    self.init(
      rootRecord: rootRecord,
      shareID: CKRecord.ID(
        recordName: "Share-\(UUID().uuidString)", zoneID: rootRecord.recordID.zoneID))
  }

  /// Makes a share of a record and of all records whose parents lead to it, with an ID of the
  /// program's choice. Sets ``CKRecord/share`` of the record.
  ///
  /// - Precondition: The ID is in the zone of the root record. Otherwise the program stops.
  public init(rootRecord: CKRecord, shareID: CKRecord.ID) {
    requireArgument(
      shareID.zoneID == rootRecord.recordID.zoneID,
      "CKShare: the share '\(shareID.recordName)' must be in the zone of its root record")
    sharing = Locked(Sharing(root: rootRecord.recordID))
    super.init(recordType: SystemType.share, recordID: shareID)
    rootRecord.contents.withLock { $0.share = Reference(recordID: shareID, action: .none) }
  }

  /// Makes a share of a whole zone, with all its records. The name of the share is
  /// `CKRecordNameZoneWideShare`.
  public init(recordZoneID: CKRecordZone.ID) {
    sharing = Locked(Sharing(root: nil))
    super.init(
      recordType: SystemType.share,
      recordID: CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: recordZoneID))
  }

  init(recordID: CKRecord.ID, contents: Contents, sharing: Sharing) {
    self.sharing = Locked(sharing)
    super.init(recordType: SystemType.share, recordID: recordID, contents: contents)
  }

  /// Takes what the server set in a save of this object: also the URL and the participants. If the
  /// program changed participants or permissions during the save, these stay as they are.
  override func update(from saved: CKRecord, after save: AssetUploader.Save) {
    super.update(from: saved, after: save)
    guard let saved = saved as? CKShare else { return }
    let new = saved.sharing.withLock { $0.copy() }
    sharing.withLock { sharing in
      if sharing.model == save.operation.shareContent {
        sharing = new
      } else {
        sharing.url = new.url
      }
    }
  }

  // MARK: Participants

  /// The permission of everyone who has the URL. `.none`, the default, admits only participants who
  /// were added. The setter does not change ``participants``.
  open var publicPermission: CKShare.ParticipantPermission {
    get { sharing.withLock { $0.publicPermission } }
    set { sharing.withLock { $0.publicPermission = newValue } }
  }

  /// The URL with which participants open the share; nil before the share is saved.
  open var url: URL? { sharing.withLock { $0.url } }

  /// All participants, the owner among them.
  open var participants: [CKShare.Participant] { sharing.withLock { $0.participants } }

  /// The participant who owns the share: the current user for a new share.
  open var owner: CKShare.Participant { sharing.withLock { $0.owner } }

  /// The participant who is the current user; nil if the user takes no part.
  open var currentUserParticipant: CKShare.Participant? {
    sharing.withLock { $0.currentUserParticipant }
  }

  /// Adds a participant. A participant with the same identity gets the role and permission of the
  /// new one. The change counts when the share is saved.
  open func addParticipant(_ participant: CKShare.Participant) {
    sharing.withLock { $0.add(participant) }
  }

  /// Removes a participant; does nothing if the share has no such participant. The change counts
  /// when the share is saved.
  ///
  /// - Precondition: The participant is not the owner. Otherwise the program stops.
  open func removeParticipant(_ participant: CKShare.Participant) {
    requireArgument(
      !participant.isEqual(owner), "CKShare: the owner cannot be removed from a share")
    sharing.withLock { $0.participants.removeAll { $0.isEqual(participant) } }
  }

  /// Returns the URL with which a participant of ``CKShareParticipant/oneTimeURLParticipant()``
  /// joins the share. Nil before the share is saved, and for other participants.
  open func oneTimeURL(for participantID: CKShare.Participant.ID) -> URL? {
    participants.first { $0.participantID == participantID }?.oneTimeURL
  }

  // MARK: Archiving and copying

  /// Makes a share from an archive, either a whole share or the result of
  /// `encodeSystemFields(with:)`.
  public required init(coder: NSCoder) {
    sharing = Locked(Sharing(coder: coder))
    super.init(decoding: coder)
  }

  /// Encodes the system fields of the record and the properties of the share.
  open override func encodeSystemFields(with coder: NSCoder) {
    super.encodeSystemFields(with: coder)
    sharing.withLock { $0 }.encode(with: coder)
  }

  /// Returns a separate share with the same fields and with copies of the participants.
  open override func copy(with zone: NSZone? = nil) -> Any {
    CKShare(
      recordID: recordID, contents: contents.withLock { $0 },
      sharing: sharing.withLock { $0.copy() })
  }

  open override var description: String {
    "<CKShare: \(recordID.recordName), zone \(recordID.zoneID.zoneName), "
      + "\(participants.count) participants, public permission \(publicPermission)>"
  }
}
