import CloudKitModel

/// The search for the points that a record has.
///
/// A *point* is a fact that a record can have (``PointTable``). To *ask for* a point means to look
/// it up in ``RecordTypeIndex/points``. If the point is there, it is added to the facts of the
/// change.
extension RecordTypeIndex {
  /// Stores the ordered values and places of a change in its facts, and asks for the points of its
  /// record.
  ///
  /// The points are looked up in batches; see ``PointQuestions``. The method reads only the fields
  /// that the plan names. The method does not copy the record. A copy would increment the reference
  /// count of each text.
  ///
  /// - Parameter forLearning: Whether points without entries are stored too (``RecordFacts/hits``).
  func look(at change: Change, _ scratch: inout MatchScratch, forLearning: Bool = false) {
    scratch.facts.begin(
      orderedPaths: orderedPaths.count, fields: fields.count, keepsAll: forLearning)
    if let everything { askNothing(everything, &scratch) }
    if let zone { PointValue(change.zoneID).bytes.withUnsafeBytes { ask($0, zone, &scratch) } }
    lookAtFields(of: change, &scratch)
    for (key, field) in plan.system {
      if let value = change.record?.value(for: .system(key)) {
        look(at: value, field, &scratch)
      } else {
        lookAtAbsence(of: field, &scratch)
      }
    }
    if let path = plan.allText { lookAtAllText(of: change, path, &scratch) }
  }

  /// Reads the facts of the record's own fields.
  ///
  /// The fields and the plan are both in the order of the names, so the method merges them in one
  /// pass. An encrypted field counts as absent: filters do not see it.
  private func lookAtFields(of change: Change, _ scratch: inout MatchScratch) {
    let hidden = change.record?.encryptedFields ?? []
    var next = 0
    for (name, value) in change.record?.fields ?? [:] {
      while next < plan.named.count {
        if plan.names[next] == name {
          if !hidden.isEmpty, hidden.contains(name) {
            lookAtAbsence(of: plan.named[next], &scratch)
          } else {
            look(at: value, plan.named[next], &scratch)
          }
          next += 1
          break
        }
        if plan.names[next] > name { break }
        lookAtAbsence(of: plan.named[next], &scratch)
        next += 1
      }
    }
    for rest in next..<plan.named.count { lookAtAbsence(of: plan.named[rest], &scratch) }
  }

  /// Asks for the point with these bytes on a path.
  ///
  /// A key of at most sixteen bytes joins the batch. A longer key is looked up at once, because the
  /// batch does not store the bytes.
  @inline(__always)
  private func ask(
    _ bytes: UnsafeRawBufferPointer, _ path: UInt32, kind: PointValue.Kind = .plain,
    _ scratch: inout MatchScratch
  ) {
    let path = path << PointValue.Kind.width | kind.rawValue
    if bytes.count <= PointKey.wholeCount {
      scratch.questions.ask(points.key(bytes, path: path), points, &scratch.facts)
    } else if let point = points.find(bytes, path: path) {
      scratch.facts.meet(point, points[point])
    }
  }

  /// Asks for the only point of a path: "no value", or the point that every record has.
  private func askNothing(_ path: UInt32, _ scratch: inout MatchScratch) {
    ask(UnsafeRawBufferPointer(start: nil, count: 0), path, &scratch)
  }

  private func ask(_ number: UInt64, _ path: UInt32, _ scratch: inout MatchScratch) {
    withUnsafeBytes(of: number) { ask($0, path, &scratch) }
  }

  /// Asks for the point "no value" of a field, if an entry uses this point.
  private func lookAtAbsence(of field: RecordPlan.Field, _ scratch: inout MatchScratch) {
    for step in field.steps where plan.steps[step].asked == .absence {
      askNothing(plan.steps[step].path, &scratch)
    }
  }

  private func look(
    at value: RecordValue, _ field: RecordPlan.Field, _ scratch: inout MatchScratch
  ) {
    switch value {
    case .string(let text):
      PointValue.visit(text) { look(atText: $0, text, field, &scratch) }
    case .list(let element, let values):
      for value in values {
        look(atElement: value, isText: element == .string, field, &scratch)
      }
    case .location(let place):
      look(at: place, field, &scratch)
      askForValue(value, field, &scratch)
    case .int64(let integer):
      look(at: OrderedValue(integer), .number, field, &scratch)
      askForValue(value, field, &scratch)
    case .double(let double):
      if let ordered = OrderedValue(double) { look(at: ordered, .number, field, &scratch) }
      askForValue(value, field, &scratch)
    case .timestamp(let timestamp):
      let key = OrderedKey.of(milliseconds: timestamp.milliseconds)
      look(at: OrderedValue(exactly: key), .timestamp, field, &scratch)
      askForValue(value, field, &scratch)
    case .bytes, .preciseTimestamp, .reference, .asset:
      askForValue(value, field, &scratch)
    }
  }

  /// Asks for the points of the value as a whole, one for each set of options.
  private func askForValue(
    _ value: RecordValue, _ field: RecordPlan.Field, _ scratch: inout MatchScratch
  ) {
    for number in field.steps where plan.steps[number].asked == .value {
      let step = plan.steps[number]
      _ = PointValue.visit(value, step.options) { ask($0, step.path, kind: $1, &scratch) }
    }
  }

  /// Reads the facts of a text.
  private func look(
    atText bytes: UnsafeRawBufferPointer, _ text: String, _ field: RecordPlan.Field,
    _ scratch: inout MatchScratch
  ) {
    var number = field.steps.lowerBound
    while number < field.steps.upperBound {
      let step = plan.steps[number]
      number += 1
      switch step.asked {
      case .value:
        withFolded(bytes, text, step.options) { ask($0, step.path, &scratch) }
      case .prefix:
        withFolded(bytes, text, step.options) { look(atBeginningsOf: $0, step, &scratch) }
      case .word:
        look(atWordsOf: bytes, text, step.path, &scratch)
      case .text:
        let value = withFolded(bytes, text, step.options) {
          OrderedValue(exactly: OrderedKey.of($0))
        }
        scratch.facts.setValue(value, path: Int(step.path))
        number = look(atDyadicIntervalsOf: value, from: number, field, &scratch)
      case .element, .elementPrefix, .cell, .number, .timestamp, .dyadicInterval, .absence:
        continue
      }
    }
  }

  /// Reads the facts of an element of a list.
  ///
  /// - Parameter isText: Whether the list is a list of texts. Only these have words and prefixes.
  private func look(
    atElement value: RecordValue, isText: Bool, _ field: RecordPlan.Field,
    _ scratch: inout MatchScratch
  ) {
    for number in field.steps {
      let step = plan.steps[number]
      switch (step.asked, value) {
      case (.element, _):
        _ = PointValue.visit(value, step.options) { ask($0, step.path, kind: $1, &scratch) }
      case (.elementPrefix, .string(let text)) where isText:
        PointValue.visit(step.options.fold(text)) { look(atBeginningsOf: $0, step, &scratch) }
      case (.word, .string(let text)) where isText:
        PointValue.visit(text) { look(atWordsOf: $0, text, step.path, &scratch) }
      default:
        continue
      }
    }
  }

  /// Stores an ordered value that is a number or a timestamp, and asks for the points of its
  /// dyadic intervals (``DyadicIntervals``).
  private func look(
    at value: OrderedValue, _ asked: RecordPlan.Step.Asked, _ field: RecordPlan.Field,
    _ scratch: inout MatchScratch
  ) {
    for number in field.steps where plan.steps[number].asked == asked {
      scratch.facts.setValue(value, path: Int(plan.steps[number].path))
      _ = look(atDyadicIntervalsOf: value, from: number + 1, field, &scratch)
    }
  }

  /// Asks for the points of the dyadic intervals of an ordered value.
  ///
  /// - Parameter first: The index of the step after that of the ordered value.
  /// - Returns: The index of the step after the last dyadic interval.
  private func look(
    atDyadicIntervalsOf value: OrderedValue, from first: Int, _ field: RecordPlan.Field,
    _ scratch: inout MatchScratch
  ) -> Int {
    var number = first
    while number < field.steps.upperBound, plan.steps[number].asked == .dyadicInterval {
      let step = plan.steps[number]
      let dyadicInterval = DyadicIntervals.dyadicInterval(of: value.floor, level: step.level)
      if reaches[Int(step.path)].contains(dyadicInterval) {
        ask(dyadicInterval, step.path, &scratch)
      }
      number += 1
    }
    return number
  }

  /// Stores a place, if an entry compares it, and asks for the points of its cells
  /// (``SphereGrid``).
  private func look(
    at place: Location, _ field: RecordPlan.Field, _ scratch: inout MatchScratch
  ) {
    guard field.asksForPlace else { return }
    scratch.facts.setPlace(
      SpherePoint(latitude: place.latitude, longitude: place.longitude), field: field.number)
    for number in field.steps where plan.steps[number].asked == .cell {
      let step = plan.steps[number]
      let cell = SphereGrid.cell(
        latitude: place.latitude, longitude: place.longitude, level: step.level)
      ask(cell, step.path, &scratch)
    }
  }

  /// Calls `body` with the UTF-8 bytes of a text, folded if the options say so.
  @inline(__always)
  private func withFolded<Result>(
    _ bytes: UnsafeRawBufferPointer, _ text: String, _ options: Filter.Options,
    _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    if options.isEmpty { return body(bytes) }
    var folded = options.fold(text)
    return folded.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }

  /// Asks for the prefixes of a text that have the lengths of the step.
  @inline(__always)
  private func look(
    atBeginningsOf bytes: UnsafeRawBufferPointer, _ step: RecordPlan.Step,
    _ scratch: inout MatchScratch
  ) {
    for place in step.lengths {
      let length = plan.lengths[place]
      if length > bytes.count { return }
      ask(UnsafeRawBufferPointer(rebasing: bytes[..<length]), step.path, &scratch)
    }
  }

  /// Asks for the words of a text. ASCII texts need no copies of their words.
  private func look(
    atWordsOf bytes: UnsafeRawBufferPointer, _ text: String, _ path: UInt32,
    _ scratch: inout MatchScratch
  ) {
    let isPlain = TextTokens.visitPlainWords(of: bytes) { word in
      ask(UnsafeRawBufferPointer(word), path, &scratch)
      return true
    }
    if isPlain { return }
    for word in TextTokens(text).tokens {
      PointValue.visit(word) { ask($0, path, &scratch) }
    }
  }

  /// Asks for the words of all texts and lists of texts in the record, except encrypted fields.
  private func lookAtAllText(
    of change: Change, _ path: UInt32, _ scratch: inout MatchScratch
  ) {
    guard let record = change.record else { return }
    for (name, value) in record.fields where !record.encryptedFields.contains(name) {
      switch value {
      case .string(let text):
        PointValue.visit(text) { look(atWordsOf: $0, text, path, &scratch) }
      case .list(.string, let values):
        for value in values {
          guard case .string(let text) = value else { continue }
          PointValue.visit(text) { look(atWordsOf: $0, text, path, &scratch) }
        }
      case .int64, .double, .timestamp, .preciseTimestamp, .bytes, .location, .reference, .asset,
        .list:
        break
      }
    }
  }
}
