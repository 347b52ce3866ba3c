import CloudKitModel
import StoreModel

extension RecordSearch {
  /// In the order of the value index; nil if the page has the order of record numbers instead:
  /// with a filter on record names, or in a zone with few records.
  ///
  /// The scan follows the path with the fewest entries, the *driver*, or the creation times of all
  /// records. All pages follow the same path.
  ///
  /// - Throws: ``StoreError/Code/badContinuation`` if the path of the previous page no longer
  ///   exists, because the schema was changed.
  func scannedPage() throws -> RecordPage? {
    if case .sorted = continuation { return nil }
    if paths.contains(where: { if case .names = $0.source { true } else { false } }) { return nil }
    if continuation == nil, try recordsOfZone(upTo: effort.fewRecords) != nil { return nil }
    var candidateFilter = CandidateFilter(try conditions(), effort: effort)
    let driver: Int?
    var start: AccessPath.Position?
    if case .scan(let path, let position) = continuation {
      driver = path
      start = position
    } else {
      // If there is a single path, no estimates are needed.
      if paths.count > 1 { try candidateFilter.prepare(in: self) }
      driver = candidateFilter.fewest(ofFirst: paths.count)
    }
    if let driver {
      guard paths.indices.contains(driver), !paths[driver].keyRanges.isEmpty || start == nil else {
        throw StoreError(
          .badContinuation,
          "continuationMarker: the marker is from before a change of the schema; start again without "
            + "a marker")
      }
      candidateFilter.remove(driver)
    }
    let path = driver.map { paths[$0] } ?? pathToAll
    if let start, start.keyRange >= path.keyRanges.count { throw QueryContinuation.foreign }
    try candidateFilter.prepare(in: self)
    let page = try page(along: path, driver, after: start, &candidateFilter)
    try reportMissingEntries(spending: 0, conditions: candidateFilter.conditions)
    return page
  }

  /// Returns nil if all zones are searched, or if the zone has more than `limit` records of all
  /// types.
  func recordsOfZone(upTo limit: Int = .max) throws -> RecordNumberSet? {
    guard zoneNumber != nil else { return nil }
    var reader = EntryReader(AccessPath(source: .zone))
    var numbers = RecordNumberSet()
    var read = 0
    while !reader.isAtEnd {
      guard read <= limit else { return nil }
      read += try reader.visit(min(limit, 1 << 16) + 1, in: self) { numbers.insert($0) }
    }
    return numbers
  }

  /// `driver` is the path's index among those of the filters; nil for the path to all records.
  private func page(
    along path: AccessPath, _ driver: Int?, after start: AccessPath.Position?,
    _ candidateFilter: inout CandidateFilter
  ) throws -> RecordPage {
    var reader = EntryReader(path, after: start)
    var rows: [StoredRecord.Row] = []
    var last: AccessPath.Position?
    // The number of entries to read in the next step: first slightly more than a page, then twice
    // as many in each step.
    var size = query.limit + 24
    _ = try candidateFilter.advise(wanted: query.limit + 1, sorting: nil, in: self)
    while !reader.isAtEnd {
      let filter = candidateFilter
      let (entries, count) = try reader.entries(size, in: self) { filter.mayMatch($0) }
      candidateFilter.pass(count)
      for entry in entries {
        if let circle = path.circle, !circle.mayHold(entry.key.head) { continue }
        guard try candidateFilter.admits(entry.number, in: self) else { continue }
        guard let candidate = try match(entry.number), isFirst(entry, on: path, candidate.record)
        else { continue }
        if rows.count == query.limit, let last {
          let end = QueryContinuation.scan(path: driver, last)
          return RecordPage(
            records: try records(rows),
            continuation: try end.text(of: scope, sealedBy: transaction.context.tokens))
        }
        rows.append(candidate.row)
        last = AccessPath.Position(
          keyRange: entry.keyRange, key: entry.key.bytes, number: entry.number)
      }
      size = min(size * 2, 4_096)
    }
    return RecordPage(records: try records(rows), continuation: nil)
  }

  /// A record with a list can have several entries on a path, of which the scan uses the first.
  private func isFirst(_ entry: IndexEntryPlace, on path: AccessPath, _ record: Record) -> Bool {
    guard path.hasRepeats else { return true }
    let first = path.keyRanges[entry.keyRange].range
    if entry.keyRange == 0, first.lower == first.upper { return true }
    var keys: [Int64: [[UInt8]]] = [:]
    for (name, field) in type.fields {
      guard let value = record.value(for: .field(name)) else { continue }
      for keyRange in path.keyRanges where keys[keyRange.field] == nil {
        if keyRange.field == field.number {
          keys[keyRange.field] = ValueKey.keys(of: value)
        } else if keyRange.field == field.tokenNumber {
          keys[keyRange.field] = ValueKey.tokenKeys(of: value)
        }
      }
    }
    for keyRange in path.keyRanges[..<entry.keyRange]
    where keys[keyRange.field]?.contains(where: { keyRange.range.contains($0) }) ?? false {
      return false
    }
    let keyRange = path.keyRanges[entry.keyRange]
    return keys[keyRange.field]?.first { keyRange.range.contains($0) } == entry.key.bytes
  }

  func count(_ path: AccessPath, upTo limit: Int) throws -> Int {
    var count = 0
    for keyRange in path.keyRanges where count < limit {
      count += try transaction.connection.count(
        ValueIndexTable.sql.probe,
        [
          .id(database), .integer(keyRange.field), .bytes(keyRange.range.lower),
          .bytes(keyRange.range.upper), .count(limit - count),
        ])
    }
    return count
  }
}
