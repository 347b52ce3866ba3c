import CloudKitModel

extension SubscriptionIndex {
  /// Returns the contradictions between the tables, one sentence each; empty if there are none.
  /// Only tests call this method.
  ///
  /// - Complexity: O(*n*), where *n* is the size of the index.
  func checkInvariants() -> [String] {
    var broken: [String] = []
    func expect(_ holds: Bool, _ sentence: @autoclosure () -> String) {
      if !holds { broken.append(sentence()) }
    }
    var listed = 0
    /// Checks that each owner of a list is found under its key and has its place in the list.
    func count(_ list: OwnerList, at place: ContentTable.Place) {
      expect(!list.isEmpty, "\(place) has no owner")
      for (number, slot) in list.slots(in: ownerRuns).enumerated() {
        let (owner, key) = (owners[slot], owners.key(of: slot))
        expect(
          contents.place(of: owner.content) == place && Int(owner.place) == number,
          "'\(key)' is not where it should be")
        expect(owners.find(key) == slot, "'\(key)' is not found under its key")
        listed += 1
      }
    }
    for (feed, number) in feedNumbers {
      expect(feeds[number] == feed, "feed \(number) is not \(feed)")
      count(feedOwners[Int(number)], at: ContentTable.Place(type: nil, entry: number))
    }
    for (name, type) in typeNumbers {
      let typeIndex = types[Int(type)].value
      expect(!typeIndex.isEmpty, "the record type '\(name)' is empty")
      for entry in typeIndex.entries.indices {
        count(
          typeIndex.owners[Int(entry)], at: ContentTable.Place(type: type, entry: entry))
      }
      broken += typeIndex.checkInvariants().map { "'\(name)': \($0)" }
    }
    expect(listed == owners.count, "entries list \(listed) owners, there are \(owners.count)")
    return broken
  }
}

extension RecordTypeIndex {
  /// Returns the contradictions between the tables of one record type, one sentence each.
  fileprivate func checkInvariants() -> [String] {
    var broken: [String] = []
    func expect(_ holds: Bool, _ sentence: @autoclosure () -> String) {
      if !holds { broken.append(sentence()) }
    }
    var filed = 0
    var users: [UInt32: UInt32] = [:]
    for slot in entries.indices {
      let entry = entries[slot]
      for key in keys(of: entry) {
        filed += 1
        users[key.point, default: 0] += 1
        let place = Int(key.place & ~Self.certainPlace)
        let filedThere =
          if key.place & Self.certainPlace != 0 {
            certain.elements[points[key.point].certain.range].dropFirst(place).first?.entry
          } else {
            candidates.elements[points[key.point].candidates.range].dropFirst(place).first?.entry
          }
        expect(
          filedThere == UInt32(slot),
          "entry \(slot) is not at its place under point \(key.point)")
      }
      for point in pointsOfProgram(entry) { users[point, default: 0] += 1 }
    }
    func listed(_ point: PointTable.Point) -> Int {
      Int(point.candidates.count + point.certain.count)
    }
    let inLists = points.points.indices.reduce(0) {
      $0 + (points.ledgers[$1].users > 0 ? listed(points.points[$1]) : 0)
    }
    expect(inLists == filed, "\(inLists) candidates under points for \(filed) keys")
    let live = points.ledgers.enumerated().filter { $1.users > 0 }
    expect(live.count == points.count, "\(live.count) points are used, \(points.count) counted")
    for (number, point) in live {
      let known = users[UInt32(number), default: 0]
      expect(known == point.users, "point \(number) has \(point.users) users, not \(known)")
    }
    let inBounds = bounds.reduce(0) { $0 + $1.lower.count + $1.upper.count }
    let byBounds = entries.indices.count {
      if case .bound = entries[$0].access { true } else { false }
    }
    expect(inBounds == byBounds, "\(inBounds) candidates with bounds for \(byBounds) entries")
    return broken
  }

  private func pointsOfProgram(_ entry: Entry) -> [UInt32] {
    entry.events == 0 ? [] : FilterProgram.terms(of: program(of: entry)).flatMap(\.points)
  }
}
