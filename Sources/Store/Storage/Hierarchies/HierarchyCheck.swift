import CloudKitModel
import StoreModel

/// The rules of hierarchies in a private database: a parent exists as long as a record names it,
/// and no record is its own ancestor. The check writes nothing.
struct HierarchyCheck {
  let database: DatabaseID
  let transaction: StoreTransaction

  /// Returns nil if the record's place stays the same.
  ///
  /// - Throws: ``ItemFailure/Code/invalid`` if the record would be its own ancestor;
  ///   ``ItemFailure/Code/limitExceeded`` if a record would have too many ancestors, or too many
  ///   descendants would move.
  func change(
    of record: Record, over current: StoredRecord?, inZone zone: Int64
  ) throws -> HierarchyChange? {
    guard record.parent != current?.record.parent else { return nil }
    let table = HierarchyTable(transaction: transaction)
    let before = try current.flatMap { try table.place(of: $0.number, in: database) }
    let parent = try record.parent.flatMap {
      try RecordTable(transaction: transaction).number(
        of: $0.recordName, inZone: zone, of: database)
    }
    let top = try parent.map { try table.place(of: $0, in: database)?.top ?? $0 }
    // The ancestors up to the top, and those above. Participants do not see what is above the root
    // of a share, so it counts by itself.
    var (depth, above) = (0, 0)
    var (next, isAbove) = (parent, false)
    while let ancestor = next {
      try check(ancestor, of: record, stored: current?.number, isBeyond: isAbove ? above : depth)
      if isAbove { above += 1 } else { depth += 1 }
      if ancestor == top { isAbove = true }
      next = try table.place(of: ancestor, in: database)?.parent
    }
    var change = HierarchyChange()
    if let parent, let top { change.place = HierarchyTable.Place(parent: parent, top: top) }
    guard let current else { return change }
    let isRoot = before?.top == current.number
    if isRoot {
      // The root of a share remains the top of its descendants.
      change.place = HierarchyTable.Place(parent: parent, top: current.number)
    }
    if let parent { try checkShares(of: current, movingBelow: parent) }
    let topBefore = before?.top ?? current.number
    change.topBefore = topBefore
    let descendants = try descendants(
      of: current, below: isRoot ? 0 : depth, withTop: topBefore)
    if topBefore != change.place?.top ?? current.number { change.moving = descendants }
    return change
  }

  /// A record with a share in its hierarchy must not move into the hierarchy of another share.
  private func checkShares(of stored: StoredRecord, movingBelow parent: Int64) throws {
    let roots = try ShareTable(transaction: transaction).roots(
      inZone: stored.zoneNumber, of: database
    ).compactMap(\.self)
    guard try roots.contains(where: { try isAncestor($0, orSelfOf: parent) }),
      try roots.contains(where: { try isAncestor(stored.number, orSelfOf: $0) })
    else { return }
    throw ItemFailure(
      .alreadyShared, field: "parent",
      "record '\(stored.record.recordID)' or a descendant of it is shared; it cannot move into the "
        + "hierarchy of another share")
  }

  /// - Complexity: one statement for each ancestor, at most twice
  ///   `ServiceLimits.ancestorsPerRecord`.
  func isAncestor(_ ancestor: Int64, orSelfOf record: Int64) throws -> Bool {
    let table = HierarchyTable(transaction: transaction)
    var next: Int64? = record
    while let number = next {
      if number == ancestor { return true }
      next = try table.place(of: number, in: database)?.parent
    }
    return false
  }

  private func check(
    _ ancestor: Int64, of record: Record, stored number: Int64?, isBeyond count: Int
  ) throws {
    guard ancestor != number else {
      throw ItemFailure(
        .invalid, field: "parent",
        "'parent' of record '\(record.recordID)' points at record "
          + "'\(record.parent?.recordName ?? "")', which is the record itself or one of its "
          + "descendants")
    }
    let limit = ServiceLimits.ancestorsPerRecord
    guard count < limit else {
      throw ItemFailure(
        .limitExceeded, field: "parent",
        "record '\(record.recordID)' would have more than \(limit) ancestors by 'parent'",
        limit: limit)
    }
  }

  /// Returns the numbers of the records below a record in its hierarchy, each after its parent. The
  /// hierarchy of another share below the record is left out.
  ///
  /// - Throws: ``ItemFailure/Code/limitExceeded`` for too many descendants, or if one of them would
  ///   have too many ancestors.
  /// - Complexity: one statement for each descendant.
  func descendants(
    of stored: StoredRecord, below depth: Int, withTop top: Int64
  ) throws -> [Int64] {
    let limit = ServiceLimits.movedDescendants
    let table = HierarchyTable(transaction: transaction)
    var descendants: [Int64] = []
    var level = [stored.number]
    var depth = depth
    while !level.isEmpty {
      var children: [Int64] = []
      for parent in level {
        let remaining = limit + 1 - descendants.count - children.count
        children += try table.children(of: parent, in: database, limit: remaining)
          .filter { $0.top == top }.map(\.number)
        guard descendants.count + children.count <= limit else {
          throw ItemFailure(
            .limitExceeded, field: "parent",
            "record '\(stored.record.recordID)' has more than \(limit) descendants; its parent "
              + "cannot change while it has so many", limit: limit)
        }
      }
      depth += 1
      guard children.isEmpty || depth <= ServiceLimits.ancestorsPerRecord else {
        throw ItemFailure(
          .limitExceeded, field: "parent",
          "a descendant of record '\(stored.record.recordID)' would have more than "
            + "\(ServiceLimits.ancestorsPerRecord) ancestors by 'parent'",
          limit: ServiceLimits.ancestorsPerRecord)
      }
      descendants += children
      level = children
    }
    return descendants
  }

  /// Follows `deleteSelf` references, recursively.
  private func closure(
    of stored: StoredRecord, within rights: DeletionRights
  ) throws -> [(number: Int64, name: String)] {
    var closure = [(number: stored.number, name: stored.record.recordID.recordName)]
    var numbers: Set = [stored.number]
    var index = 0
    while index < closure.count {
      let holders = try RecordTable(transaction: transaction).holderNames(
        ofReferencesTo: closure[index].name, inZone: stored.zoneNumber, of: database)
      for holder in holders where try rights.mayDelete(privateRecord: holder.number) {
        if numbers.insert(holder.number).inserted { closure.append(holder) }
      }
      index += 1
    }
    return closure
  }

  /// A deletion also deletes the holders of `deleteSelf` references, recursively. The children of
  /// each deleted record must be among the deleted ones; else throws ``BlockedOperation``.
  func checkChildren(of stored: StoredRecord, within rights: DeletionRights) throws {
    let table = HierarchyTable(transaction: transaction)
    guard try table.hasRows(in: database) else { return }
    let closure = try closure(of: stored, within: rights)
    let deleted = Set(closure.map(\.number))
    for parent in deleted {
      // Of one child more than there are deleted records, one at least is left.
      let children = try table.children(of: parent, in: database, limit: deleted.count + 1)
      guard let child = children.map(\.number).first(where: { !deleted.contains($0) }) else {
        continue
      }
      let records = RecordTable(transaction: transaction)
      let parentName = try records.name(of: parent, in: database) ?? ""
      let childName = try records.name(of: child, in: database) ?? ""
      var reason =
        "record '\(childName)' has record '\(parentName)' as its parent; delete both in one request, "
        + "or give the child another parent first"
      if let shared = rights.shared, try shared.membership(ofRecord: child) == nil {
        reason = "another record would lose its parent"
      }
      throw BlockedOperation(
        recordNames: [childName] + closure.map(\.name),
        failure: ItemFailure(
          .referenced,
          "record '\(stored.record.recordID)' cannot be deleted, because \(reason)"))
    }
  }
}

/// A checked change of a record's place.
struct HierarchyChange {
  var place: HierarchyTable.Place?
  var topBefore: Int64?
  /// The descendants that move with the record; empty if their top stays the same.
  var moving: [Int64] = []
}
