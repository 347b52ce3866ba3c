import CloudKitModel

extension RecordSearch {
  /// The field to walk through for the query's order: the only sort key, when it is indexed by its
  /// own values.
  var walkableSortField: RecordTypeEntry.Field? {
    guard query.query.sortKeys.count == 1, let sortKey = query.query.sortKeys.first,
      sortKey.relativeLocation == nil, sortKey.key != .system(.createdUserRecordName),
      let field = type.field(for: sortKey.key), field.type.element.isOrdered
    else { return nil }
    return field
  }

  /// Collects the matching records in the order of a field's index, until the page is full.
  ///
  /// Texts that are longer than a key stand in their order only after all texts with the key were
  /// seen. Records without a value come last.
  func walk(_ field: RecordTypeEntry.Field, into collector: inout RecordCollector) throws {
    let sortKey = query.query.sortKeys[0]
    let start = collector.start
    if start == nil || start?.values[0] != nil {
      try walkValues(of: field, ascending: sortKey.ascending, from: start, into: &collector)
    }
    if collector.isFull || sortKey.key == .system(.createdTimestamp)
      || sortKey.key == .system(.modifiedTimestamp)
    {
      return
    }
    try visitCandidates(of: accessPath(through: nil), after: nil) { _, stored in
      if RecordOrder.value(of: stored.record, for: sortKey) == nil { collector.add(stored) }
      return true
    }
  }

  private func walkValues(
    of field: RecordTypeEntry.Field, ascending: Bool, from start: RecordOrder.Place?,
    into collector: inout RecordCollector
  ) throws {
    var place: ([UInt8], Int64)?
    if let start, let key = start.values[0].flatMap({ ValueKey.key(of: $0) }) {
      // Texts that share a cut key are not in their order: see them all again, and let the
      // collector tell which are past.
      let isWhole = key.count < ValueKey.textLimit
      place = (key, isWhole ? start.number : (ascending ? -1 : .max))
    }
    var lastKey: [UInt8]?
    while true {
      let size = 128
      let entries =
        ascending
        ? try self.entries(of: field, in: .everything, after: place, limit: size)
        : try entriesDescending(of: field, before: place, limit: size)
      for entry in entries {
        if entry.key != lastKey || entry.key.count < ValueKey.textLimit, collector.isFull {
          return
        }
        lastKey = entry.key
        if query.query.matches(entry.stored.record) { collector.add(entry.stored) }
      }
      guard entries.count == size, let last = entries.last else { return }
      place = (last.key, last.stored.number)
    }
  }
}
