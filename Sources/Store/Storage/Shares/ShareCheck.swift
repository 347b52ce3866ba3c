import CloudKitModel
import Foundation
import StoreModel

/// The check of a save of a share in the owner's private database. It writes nothing.
struct ShareCheck {
  let modification: RecordModification
  let address: DatabaseAddress
  let zone: ZoneModification
  let transaction: StoreTransaction

  private var database: DatabaseID { modification.database }

  /// Returns what the save changes; nil if the record is no share.
  ///
  /// - Parameters:
  ///   - record: its content is what the request asks for.
  ///   - current: nil for a new share.
  func change(of record: Record, over current: StoredRecord?) throws -> ShareChange? {
    guard record.recordType == ShareContent.recordType else { return nil }
    guard address.scope == .private else {
      throw ItemFailure(
        .badDatabase, "record '\(record.recordID)' is a share; shares are in private databases only"
      )
    }
    let requested = record.shareContent ?? ShareContent()
    var change: ShareChange
    let before: StoredShare?
    if let current {
      guard
        let share = try ShareTable(transaction: transaction).share(current.number, in: database)
      else {
        throw StoreError(.corrupt, "record '\(record.recordID)' is a share without its row")
      }
      before = share
      change = ShareChange(share: share, participants: try participants(nil, of: share, nil))
    } else {
      before = nil
      change = try newShare(record, requested)
    }
    if let permission = requested.publicPermission {
      guard permission != .unknown else {
        throw ItemFailure(
          .invalid, field: "publicPermission",
          "the public permission of share '\(record.recordID)' must be NONE, READ_ONLY or READ_WRITE"
        )
      }
      change.share.publicPermission = permission
    }
    try settle(requested, in: &change.share)
    change.participants = try participants(requested.participants, of: change.share, before)
    // A requester who was added is answered.
    change.share.requesters.removeAll(where: change.participants.added.contains)
    return change
  }

  /// - Parameter before: nil for a new share.
  private func participants(
    _ requested: [ShareParticipant]?, of share: StoredShare, _ before: StoredShare?
  ) throws -> ParticipantChanges {
    let present =
      try before.map {
        try ParticipantTable(transaction: transaction).participants(of: $0.number, in: database)
      } ?? []
    let owner = address.owner ?? ""
    return try ParticipantChanges(
      to: requested,
      in: .init(
        present: present, owner: (owner, share.settings.ownerID),
        permission: (before?.publicPermission ?? .none, share.publicPermission),
        // Among participants, only administrators may save a share.
        requester: modification.isByParticipant(at: address) ? .administrator : .owner,
        timestamp: modification.timestamp,
        requesters: Set(before?.requesters ?? []), blocked: Set(share.blocked)))
  }

  private func settle(_ requested: ShareContent, in share: inout StoredShare) throws {
    if let denies = requested.deniesAccessRequests {
      share.settings.deniesAccessRequests = denies
    }
    let requestersBefore = Set(share.requesters)
    if let requesters = requested.requesters {
      let named = Set(requesters.compactMap(\.userRecordName))
      share.requesters.removeAll { !named.contains($0) }
    }
    guard let blocked = requested.blocked else { return }
    let named = blocked.compactMap(\.userRecordName)
    guard named.count == blocked.count else {
      throw ItemFailure(
        .invalid, field: "blocked",
        "an entry of 'blocked' has no userRecordName; a share blocks users, not addresses")
    }
    let known = try Set(
      share.number == 0
        ? []
        : ParticipantTable(transaction: transaction).participants(of: share.number, in: database)
          .compactMap(\.user))
    let new = Set(named).subtracting(share.blocked)
      .intersection(known.union(requestersBefore))
    share.blocked.removeAll { !named.contains($0) }
    share.blocked = (share.blocked + new).sorted()
    share.requesters.removeAll(where: new.contains)
    let limit = ServiceLimits.blockedPerShare
    guard share.blocked.count <= limit else {
      throw ItemFailure(
        .limitExceeded, field: "blocked",
        "the share would block \(share.blocked.count) users; the limit is \(limit)",
        limit: limit)
    }
  }

  private func newShare(_ record: Record, _ requested: ShareContent) throws -> ShareChange {
    guard !zone.zoneID.isDefaultZone else {
      throw ItemFailure(
        .invalid, field: "zoneID",
        "share '\(record.recordID)' is in the default zone; only records in custom zones can be "
          + "shared")
    }
    var settings = ShareSettings()
    let owner = requested.participants?.first { $0.role == .owner }
    settings.ownerID = owner?.participantID ?? transaction.context.makeUUID().uuidString
    let share = StoredShare(
      number: 0, zoneNumber: zone.zoneNumber, publicPermission: .none, settings: settings)
    var change = ShareChange(share: share, participants: try participants(nil, of: share, nil))
    change.isNew = true
    guard let root = requested.root else {
      guard record.recordID.recordName == ShareContent.zoneShareName else {
        throw ItemFailure(
          .invalid, field: "forRecord",
          "share '\(record.recordID)' names no root record; name it in forRecord, or give the share "
            + "of a whole zone the name '\(ShareContent.zoneShareName)'")
      }
      let roots = try ShareTable(transaction: transaction).roots(
        inZone: zone.zoneNumber, of: database)
      guard roots.isEmpty else { throw alreadyShared(record, "records of the zone are shared") }
      return change
    }
    try check(root: root, of: record, change: &change)
    return change
  }

  private func check(
    root: ShareContent.Root, of record: Record, change: inout ShareChange
  ) throws {
    guard record.recordID.recordName != ShareContent.zoneShareName else {
      throw ItemFailure(
        .invalid, field: "forRecord",
        "'\(ShareContent.zoneShareName)' is the share of a whole zone and has no root record")
    }
    let records = RecordTable(transaction: transaction)
    guard
      let stored = try records.record(
        named: root.recordName, inZone: zone.zoneNumber, of: database)
    else {
      throw ItemFailure(
        .invalid, field: "forRecord",
        "share '\(record.recordID)' has the root record '\(root.recordName)', which does not "
          + "exist; save it in the same request")
    }
    if zone.sharedRoots[root.recordName] != record.recordID.recordName {
      try checkTag(of: root, stored.record, of: record)
    }
    guard stored.record.recordType != ShareContent.recordType else {
      throw ItemFailure(
        .invalid, field: "forRecord", "record '\(root.recordName)' is a share; it cannot be shared")
    }
    change.share.root = stored.number
    let table = HierarchyTable(transaction: transaction)
    change.rootPlace = try table.place(of: stored.number, in: database)
    let hierarchy = HierarchyCheck(database: database, transaction: transaction)
    for other in try ShareTable(transaction: transaction).roots(
      inZone: zone.zoneNumber, of: database)
    {
      guard let other else { throw alreadyShared(record, "the zone is shared") }
      if try hierarchy.isAncestor(other, orSelfOf: stored.number) {
        throw alreadyShared(record, "the root record or an ancestor of it is shared")
      }
      if try hierarchy.isAncestor(stored.number, orSelfOf: other) {
        throw alreadyShared(record, "a descendant of the root record is shared")
      }
    }
    let top = change.rootPlace?.top ?? stored.number
    if top != stored.number {
      change.moving = try hierarchy.descendants(of: stored, below: 0, withTop: top)
    }
  }

  /// For a root record that is not saved together with its new share.
  ///
  /// - Throws: ``ItemFailure/Code/invalid`` without a tag; ``ItemFailure/Code/conflict``, with the
  ///   root record, for another tag than the record's.
  private func checkTag(
    of root: ShareContent.Root, _ stored: Record, of share: Record
  ) throws(ItemFailure) {
    guard let tag = root.recordChangeTag else {
      throw ItemFailure(
        .invalid, field: "forRecord",
        "share '\(share.recordID)' is saved without its root record '\(root.recordName)'; save both in "
          + "one request, or name the root's recordChangeTag in forRecord")
    }
    guard tag != stored.recordChangeTag else { return }
    throw ItemFailure(
      .conflict, field: "forRecord",
      "client oplock error: share '\(share.recordID)' names the change tag '\(tag)' of its root "
        + "record '\(root.recordName)', but the record has '\(stored.recordChangeTag ?? "")'; fetch it again",
      serverRecord: stored)
  }

  private func alreadyShared(_ record: Record, _ reason: String) -> ItemFailure {
    ItemFailure(
      .alreadyShared, field: "forRecord", "share '\(record.recordID)' cannot be saved: \(reason)")
  }
}

/// A save of a share, checked but not written yet.
struct ShareChange {
  var share: StoredShare
  var participants: ParticipantChanges
  /// The root's place before the share; nil for a root without a parent.
  var rootPlace: HierarchyTable.Place?
  var moving: [Int64] = []
  var isNew = false

  var departed: [String] {
    (participants.ended.filter(\.mayRead) + participants.hidden).compactMap(\.joinedUser)
  }
}
