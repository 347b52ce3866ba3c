import CloudKitModel

/// Finding the points that a record has.
extension RecordTypeIndex {
  /// Notes a change's ordered values and its places, and asks for the points of its record: they are
  /// met when the questions have been answered.
  ///
  /// Only what is asked for is taken out of the change: to copy a record counts a reference for each
  /// text in it.
  ///
  /// - Parameter forLearning: Whether points are noted too under which no entry is filed.
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

  /// Goes through the record's fields and those that are asked for side by side, for both are in the
  /// order of their names.
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

  /// Asks for the point of a path that has no more than one.
  private func askNothing(_ path: UInt32, _ scratch: inout MatchScratch) {
    ask(UnsafeRawBufferPointer(start: nil, count: 0), path, &scratch)
  }

  private func ask(_ number: UInt64, _ path: UInt32, _ scratch: inout MatchScratch) {
    withUnsafeBytes(of: number) { ask($0, path, &scratch) }
  }

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
    case .bytes, .reference, .asset:
      askForValue(value, field, &scratch)
    }
  }

  private func askForValue(
    _ value: RecordValue, _ field: RecordPlan.Field, _ scratch: inout MatchScratch
  ) {
    for number in field.steps where plan.steps[number].asked == .value {
      let step = plan.steps[number]
      _ = PointValue.visit(value, step.options) { ask($0, step.path, kind: $1, &scratch) }
    }
  }

  /// - Parameter bytes: those of the text.
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
        number = look(atStretchesOf: value, from: number, field, &scratch)
      case .element, .elementPrefix, .cell, .number, .timestamp, .stretch, .absence:
        continue
      }
    }
  }

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

  /// An ordered value that is no text.
  private func look(
    at value: OrderedValue, _ asked: RecordPlan.Step.Asked, _ field: RecordPlan.Field,
    _ scratch: inout MatchScratch
  ) {
    for number in field.steps where plan.steps[number].asked == asked {
      scratch.facts.setValue(value, path: Int(plan.steps[number].path))
      _ = look(atStretchesOf: value, from: number + 1, field, &scratch)
    }
  }

  /// - Returns: the step after the last stretch.
  private func look(
    atStretchesOf value: OrderedValue, from first: Int, _ field: RecordPlan.Field,
    _ scratch: inout MatchScratch
  ) -> Int {
    var number = first
    while number < field.steps.upperBound, plan.steps[number].asked == .stretch {
      let step = plan.steps[number]
      let stretch = Stretches.stretch(of: value.floor, level: step.level)
      if reaches[Int(step.path)].contains(stretch) { ask(stretch, step.path, &scratch) }
      number += 1
    }
    return number
  }

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

  @inline(__always)
  private func withFolded<Result>(
    _ bytes: UnsafeRawBufferPointer, _ text: String, _ options: Filter.Options,
    _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    if options.isEmpty { return body(bytes) }
    var folded = options.fold(text)
    return folded.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }

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
      case .int64, .double, .timestamp, .bytes, .location, .reference, .asset, .list:
        break
      }
    }
  }
}
