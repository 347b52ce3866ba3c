import CloudKitModel

extension SubscriptionIndex {
  /// What the tables contradict each other in, for tests; empty when all is well.
  ///
  /// - Complexity: O(size of the index)
  func checkInvariants() -> [String] {
    var broken: [String] = []
    func expect(_ holds: Bool, _ sentence: @autoclosure () -> String) {
      if !holds { broken.append(sentence()) }
    }

    expect(owners.count == slots.count, "\(owners.count) owners for \(slots.count) keys")
    for (key, slot) in slots {
      let owner = owners[slot]
      expect(owner.key == key, "the slot of '\(key)' holds '\(owner.key)'")
      let listed = entries[owner.entry].owners
      expect(
        listed.indices.contains(owner.position) && listed[owner.position] == slot,
        "'\(key)' is not at its position in its entry")
    }

    let listed = entries.indices.reduce(0) { $0 + entries[$1].owners.count }
    expect(listed == slots.count, "entries list \(listed) owners for \(slots.count) keys")
    expect(
      entries.count == entryOfPredicate.count,
      "\(entries.count) entries for \(entryOfPredicate.count) predicates")
    var filed = feeds.values.reduce(0) { $0 + $1.count }
    expect(feeds.values.allSatisfy { !$0.isEmpty }, "a feed is empty")
    for index in recordTypes.values {
      expect(!index.isEmpty, "a record type is empty")
      filed += index.scanned.count
      for table in index.tables.values {
        expect(!table.isEmpty, "a table is empty")
        expect(table.values.allSatisfy { !$0.isEmpty }, "a bucket is empty")
        filed += table.values.reduce(0) { $0 + $1.count }
      }
    }
    for slot in entries.indices {
      let entry = entries[slot]
      expect(!entry.owners.isEmpty, "entry \(slot) has no owner")
      expect(entryOfPredicate[entry.identity] == slot, "entry \(slot) is not under its predicate")
      filed -= placesHolding(slot, entry)
    }
    expect(filed == 0, "\(filed) more places hold an entry than entries have places")
    return broken
  }

  /// In how many of the places where the entry should lie it lies; a missing one counts as two, so
  /// that it shows.
  private func placesHolding(_ slot: Int32, _ entry: PredicateEntry) -> Int {
    switch (entry.kind, entry.placement) {
    case (.query(let query, _, _), .scan):
      return recordTypes[query.recordType]?.scanned.contains(slot) == true ? 1 : 2
    case (.query(let query, _, _), .keys(let access)):
      let table = recordTypes[query.recordType]?.tables[access.path]
      return access.keys.reduce(0) { $0 + (table?[$1]?.contains(slot) == true ? 1 : 2) }
    case (.recordZone(let zoneID, let recordType), .feed):
      return feeds[Feed(zoneID: zoneID, recordType: recordType)]?.contains(slot) == true ? 1 : 2
    case (.database(let recordType), .feed):
      return feeds[Feed(zoneID: nil, recordType: recordType)]?.contains(slot) == true ? 1 : 2
    default:
      return 2
    }
  }
}
