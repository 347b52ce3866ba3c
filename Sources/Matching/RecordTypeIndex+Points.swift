import CloudKitModel

/// Finding the points that a record has.
extension RecordTypeIndex {
  /// Notes the points of a record, its ordered values and its places.
  ///
  /// - Parameter forLearning: Whether points are noted too under which no entry is filed.
  func look(
    at record: Record, zoneID: ZoneID, _ scratch: inout MatchScratch, forLearning: Bool = false
  ) {
    scratch.begin(
      points: points.points.count, ordered: orderedPaths.count, fields: fields.count,
      keepsAll: forLearning)
    if let everything { meetNothing(everything, &scratch) }
    if let zone {
      PointValue(zoneID).bytes.withUnsafeBytes { meet($0, zone, &scratch) }
    }
    for number in fields.indices {
      if fields[number].key == .allText {
        if let path = fields[number].words { lookAtAllText(of: record, path, &scratch) }
      } else if let value = record.value(for: fields[number].key) {
        look(at: value, number, &scratch)
      } else if let path = fields[number].absence {
        meetNothing(path, &scratch)
      }
    }
  }

  @inline(__always)
  private func meet(
    _ bytes: UnsafeRawBufferPointer, _ path: UInt32, kind: PointValue.Kind = .plain,
    _ scratch: inout MatchScratch
  ) {
    let path = path << PointValue.Kind.width | kind.rawValue
    if let point = points.find(bytes, path: path) {
      scratch.meet(point, hasCandidates: !points[point].candidates.isEmpty)
    }
  }

  /// Meets the point of a path that has no more than one.
  private func meetNothing(_ path: UInt32, _ scratch: inout MatchScratch) {
    meet(UnsafeRawBufferPointer(start: nil, count: 0), path, &scratch)
  }

  private func meet(_ number: UInt64, _ path: UInt32, _ scratch: inout MatchScratch) {
    withUnsafeBytes(of: number) { meet($0, path, &scratch) }
  }

  private func meet(
    _ value: RecordValue, _ texts: [FieldPaths.Text], _ scratch: inout MatchScratch
  ) {
    for text in texts {
      _ = PointValue.visit(value, text.options) { meet($0, text.path, kind: $1, &scratch) }
    }
  }

  private func look(at value: RecordValue, _ number: Int, _ scratch: inout MatchScratch) {
    meet(value, fields[number].values, &scratch)
    switch value {
    case .string(let text):
      look(atBeginningsOf: text, fields[number].prefixes, &scratch)
      if let path = fields[number].words { look(atWordsOf: text, path, &scratch) }
    case .list(let element, let values):
      look(atElements: values, isText: element == .string, number, &scratch)
    case .location(let place):
      scratch.places[number] = place
      for cell in fields[number].cells {
        let found = SphereGrid.cell(
          latitude: place.latitude, longitude: place.longitude, level: cell.level)
        meet(found, cell.path, &scratch)
      }
    case .int64, .double, .timestamp, .bytes, .reference, .asset:
      break
    }
    for place in fields[number].ordered.indices {
      guard let ordered = OrderedValue(value, as: fields[number].ordered[place].kind) else {
        continue
      }
      scratch.ordered[fields[number].ordered[place].number] = ordered
      for stretch in fields[number].ordered[place].stretches {
        meet(
          Stretches.stretch(of: ordered.floor, level: stretch.level), stretch.path, &scratch)
      }
    }
  }

  private func look(
    atElements values: [RecordValue], isText: Bool, _ number: Int,
    _ scratch: inout MatchScratch
  ) {
    for value in values {
      meet(value, fields[number].elements, &scratch)
      guard isText, case .string(let text) = value else { continue }
      look(atBeginningsOf: text, fields[number].elementPrefixes, &scratch)
      if let path = fields[number].words { look(atWordsOf: text, path, &scratch) }
    }
  }

  private func look(
    atBeginningsOf text: String, _ prefixes: [FieldPaths.Prefix],
    _ scratch: inout MatchScratch
  ) {
    for prefix in prefixes {
      PointValue.visit(prefix.options.fold(text)) { bytes in
        for length in prefix.lengths.numbers {
          guard length <= bytes.count else { return }
          meet(UnsafeRawBufferPointer(rebasing: bytes[..<length]), prefix.path, &scratch)
        }
      }
    }
  }

  private func look(atWordsOf text: String, _ path: UInt32, _ scratch: inout MatchScratch) {
    let isPlain = TextTokens.visitPlainWords(of: text) { word in
      meet(UnsafeRawBufferPointer(word), path, &scratch)
      return true
    }
    if isPlain { return }
    for word in TextTokens(text).tokens {
      PointValue.visit(word) { meet($0, path, &scratch) }
    }
  }

  private func lookAtAllText(
    of record: Record, _ path: UInt32, _ scratch: inout MatchScratch
  ) {
    for (name, value) in record.fields where !record.encryptedFields.contains(name) {
      switch value {
      case .string(let text):
        look(atWordsOf: text, path, &scratch)
      case .list(.string, let values):
        for value in values {
          if case .string(let text) = value { look(atWordsOf: text, path, &scratch) }
        }
      default:
        break
      }
    }
  }
}

extension OrderedValue {
  /// Nil when the value is of another kind.
  fileprivate init?(_ value: RecordValue, as kind: OrderedPath.Kind) {
    switch (kind, value) {
    case (.number, .int64(let integer)):
      self.init(integer)
    case (.number, .double(let double)):
      self.init(double)
    case (.timestamp, .timestamp(let timestamp)):
      self.init(exactly: OrderedKey.of(milliseconds: timestamp.milliseconds))
    case (.text(let options), .string(let text)):
      self.init(exactly: OrderedKey.of(options.fold(text)))
    default:
      return nil
    }
  }
}
