import CloudKitModel

extension RecordTypeIndex {
  /// Finds the entries that fire on a change, each once and in no order, and the lists of their
  /// owners. The page `docs/internals/matching.md` explains the terms.
  ///
  /// The results are in ``MatchScratch/fired`` and ``MatchScratch/owners``.
  ///
  /// - Parameters:
  ///   - event: The bit of the change's event in `Subscription.Options`.
  ///   - table: The subscriptions of the index.
  ///   - runs: The runs that contain the owners of each list from the third on.
  /// - Complexity: O(*n* + *m*) on average. *n* is the number of points that are looked up. A point
  ///   is a fact that a record can have, such as "`author` is ann". *m* is the number of candidates
  ///   that the change meets: the entries that are filed under the record's points, and those whose
  ///   bound a value of the record reaches.
  func match(
    _ change: Change, event: UInt8, _ scratch: inout MatchScratch,
    _ table: borrowing OwnerTable, _ runs: borrowing Runs<Int32>
  ) {
    look(at: change, &scratch)
    locatePoints(&scratch)
    meetPoints(&scratch)
    considerEntries(event, &scratch)
    var costs = MatchingCosts()
    runPrograms(change, &scratch, &costs, table, runs)
    findOwners(&scratch)
  }

  // MARK: The steps. Each prefetches what the next one reads.

  // `RecordTypeIndex+Groups.swift` runs a step for several changes before the next step.

  /// Looks up the numbers of the change's points and prefetches the points.
  func locatePoints(_ scratch: inout MatchScratch) { scratch.questions.locate(points) }

  /// Reads the change's points and prefetches the lists of candidates under them.
  func meetPoints(_ scratch: inout MatchScratch) {
    scratch.questions.meet(points, &scratch.facts)
    for hit in scratch.facts.hits[..<scratch.facts.hitCount] {
      certain.elements.prefetch(hit.certain.range)
      candidates.elements.prefetch(hit.candidates.range)
    }
  }

  /// Checks the candidates that the change meets. Stores the entries that fire, and those whose
  /// programs must run.
  ///
  /// The candidates are under the points of the change, and in the lists of bounds. Element 0 of
  /// `ordered` is no path's value, so path `number` has element `number + 1`. A list of upper
  /// bounds is ordered by the complement of the bound, so it is read up to `~value.ceiling`
  /// (``RecordTypeIndex/Bounds``).
  func considerEntries(_ event: UInt8, _ scratch: inout MatchScratch) {
    for number in 0..<scratch.facts.hitCount {
      let hit = scratch.facts.hits[number]
      // The greatest number of entries that can fire at this point.
      let most = Int(hit.candidates.count + hit.certain.count)
      scratch.candidateCount += most
      scratch.reserve(most)
      scratch.firedCount = consider(
        hit, event, scratch.facts, &scratch.later, &scratch.fired, from: scratch.firedCount)
    }
    for number in bounds.indices {
      let value = scratch.facts.ordered[number + 1]
      if value.isMissing { continue }
      bounds[number].lower.visit(upTo: value.floor) { considerBound($0, event, &scratch) }
      bounds[number].upper.visit(upTo: ~value.ceiling) { considerBound($0, event, &scratch) }
    }
  }

  /// Runs the programs of entries that ``considerEntries(_:_:)`` could not decide, stores the entries
  /// that fire, and prefetches the lists of owners of all entries that fire.
  ///
  /// The program of an entry whose owners are all excluded does not run. Otherwise, the subscriber of
  /// the first owner who is not excluded is charged.
  func runPrograms(
    _ change: Change, _ scratch: inout MatchScratch, _ costs: inout MatchingCosts,
    _ table: borrowing OwnerTable, _ runs: borrowing Runs<Int32>
  ) {
    scratch.later.removeDuplicates()
    scratch.reserve(scratch.later.programs.count + scratch.later.fired.count)
    for entry in scratch.later.programs {
      var payer: UInt32?
      if costs.isBySubscriber {
        payer = table.firstSubscriber(of: owners[Int(entry)], in: runs, notIn: costs.excluded)
        if payer == nil { continue }
      }
      var cost = 0
      scratch.fired[scratch.firedCount] = entry
      scratch.firedCount += passes(Int32(entry), change, scratch.facts, &cost) ? 1 : 0
      costs.add(cost, to: payer)
    }
    for entry in scratch.later.fired {
      scratch.fired[scratch.firedCount] = entry
      scratch.firedCount += 1
    }
    for place in 0..<scratch.firedCount { owners.prefetch(Int(scratch.fired[place])) }
    scratch.matchedCount += scratch.firedCount
  }

  /// Checks the candidates under a point, and stores the entries that fire after the earlier ones
  /// in `fired`.
  ///
  /// - Parameters:
  ///   - later: The entries that are stored later. The method adds to them.
  ///   - fired: The entries that fire. The array must have space for all candidates of the point.
  ///   - first: The number of entries that fire already.
  /// - Returns: The number of entries that fire now.
  private func consider(
    _ hit: RecordFacts.Hit, _ event: UInt8, _ facts: borrowing RecordFacts,
    _ later: inout LaterEntries, _ fired: inout [UInt32], from first: Int
  ) -> Int {
    let (candidates, certain) = (candidates.elements.span, certain.elements.span)
    var fired = fired.mutableSpan
    var count = first
    // Plain and certain candidates are tested without a branch, because the processor cannot
    // predict whether an entry fires: each entry is stored, and the next one replaces it unless it
    // fires.
    for place in hit.certain.range {
      fired[count] = certain[place].entry
      count += certain[place].fires(on: event) ? 1 : 0
    }
    for place in hit.candidates.range {
      fired[count] = candidates[place].entry
      count += fires(candidates[place], event, facts, &later) ? 1 : 0
    }
    return count
  }

  /// Tests a candidate, and returns whether the caller must store it as firing.
  ///
  /// If the candidate's program decides, or the change can meet the candidate at several places, the
  /// method adds its entry to `later` and returns false.
  @inline(__always)
  private func fires(
    _ candidate: Candidate, _ event: UInt8, _ facts: borrowing RecordFacts,
    _ later: inout LaterEntries
  ) -> Bool {
    if candidate.isPlain {
      let value = facts.ordered[candidate.path]
      // 1 if the event and the value fit, otherwise 0. The operator `&` evaluates all three
      // conditions, without a branch.
      let isRight =
        (candidate.fires(on: event) ? 1 : 0) & (candidate.low <= value.floor ? 1 : 0)
        & (value.ceiling <= candidate.high ? 1 : 0)
      return isRight != 0
    }
    guard candidate.fires(on: event) else { return false }
    guard let passes = passes(candidate, facts) else {
      later.run(candidate)
      return false
    }
    if passes, candidate.isMetAgain { later.fire(candidate) }
    return passes && !candidate.isMetAgain
  }

  private func considerBound(
    _ candidate: Candidate, _ event: UInt8, _ scratch: inout MatchScratch
  ) {
    scratch.reserve(1)
    scratch.candidateCount += 1
    scratch.fired[scratch.firedCount] = candidate.entry
    let fires = fires(candidate, event, scratch.facts, &scratch.later)
    scratch.firedCount += fires ? 1 : 0
  }

  /// Whether the condition of a candidate is true for the change; `nil` if its program decides.
  @inline(__always)
  private func passes(_ candidate: Candidate, _ facts: borrowing RecordFacts) -> Bool? {
    switch candidate.check {
    case .nothing:
      return true
    case .range:
      return facts.ordered[candidate.path].isWithin(candidate.low, candidate.high)
    case .cap:
      let side = PlaceCap(candidate.low, candidate.high).side(of: facts.places[candidate.path])
      return switch side {
      case .outside: false
      case .inside: true
      case .unknown: nil
      }
    case .point:
      return facts.has(candidate.low)
    case .program:
      return nil
    }
  }

  /// Copies the owner lists of all entries that fire into ``MatchScratch/owners``. There the lists
  /// are adjacent, so the next step does not wait for memory at each list.
  func findOwners(_ scratch: inout MatchScratch) {
    if scratch.owners.count < scratch.firedCount {
      scratch.owners = [OwnerList](repeating: .empty, count: scratch.fired.count)
    }
    for place in 0..<scratch.firedCount {
      scratch.owners[place] = owners[Int(scratch.fired[place])]
    }
  }

  /// Executes the program of an entry, and returns whether all its terms are true for the change.
  ///
  /// - Parameter cost: Receives the cost; see ``MatchingCosts``.
  /// - Complexity: O(*n*), where *n* is the count of the program's words. A filter term adds the
  ///   cost of `Filter.matches(_:)`.
  private func passes(
    _ slot: Int32, _ change: Change, _ facts: borrowing RecordFacts, _ cost: inout Int
  ) -> Bool {
    let entry = entries[slot]
    var place = Int(entry.program)
    let end = place + Int(entry.wordCount)
    while place < end {
      let head = words.elements[place]
      let arguments = place + 1..<place + 1 + FilterProgram.count(head)
      cost += FilterProgram.operation(head) == .filter ? MatchingCosts.filter : 1 + arguments.count
      guard holds(head, arguments, change, facts) else { return false }
      place = arguments.upperBound
    }
    return true
  }

  /// Whether a term is true for the change.
  ///
  /// - Parameter arguments: The indices of the term's arguments in ``words``.
  private func holds(
    _ head: UInt64, _ arguments: Range<Int>, _ change: Change, _ facts: borrowing RecordFacts
  ) -> Bool {
    switch FilterProgram.operation(head) {
    case .any: return hasAny(arguments, facts)
    case .none: return !hasAny(arguments, facts)
    case .all: return hasAll(arguments, facts)
    case .notAll: return !hasAll(arguments, facts)
    case .range:
      let value = facts.ordered[FilterProgram.number(head) + 1]
      let first = arguments.lowerBound
      return !value.isMissing && value.isWithin(words.elements[first], words.elements[first + 1])
    case .near:
      let first = arguments.lowerBound
      func number(_ offset: Int) -> Double { Double(bitPattern: words.elements[first + offset]) }
      let center = Location(latitude: number(0), longitude: number(1))
      return facts.places[FilterProgram.number(head)].location.distance(to: center) <= number(2)
    case .filter:
      let filter = filters[Int32(words.elements[arguments.lowerBound])]
      return change.record.map { filter.matches($0) } ?? false
    }
  }

  /// Whether the change has one of the points. `places` are the indices of the points in ``words``.
  private func hasAny(_ places: Range<Int>, _ facts: borrowing RecordFacts) -> Bool {
    for place in places where facts.has(words.elements[place]) { return true }
    return false
  }

  private func hasAll(_ places: Range<Int>, _ facts: borrowing RecordFacts) -> Bool {
    for place in places where !facts.has(words.elements[place]) { return false }
    return true
  }
}
