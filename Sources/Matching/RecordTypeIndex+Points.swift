import CloudKitModel

/// Finding the points that a record has.
extension RecordTypeIndex {
  /// Notes the points of a record, its ordered values and its places.
  func look(at record: Record, zoneID: ZoneID, _ scratch: inout MatchScratch) {
    scratch.begin(
      points: points.points.count, ordered: orderedPaths.count, fields: fields.count)
    if let everything {
      scratch.bytes.removeAll(keepingCapacity: true)
      meet(everything, &scratch)
    }
    if let zone {
      PointBytes.put(zoneID, in: &scratch.bytes)
      meet(zone, &scratch)
    }
    for (number, field) in fields.enumerated() {
      if field.key == .allText {
        if let path = field.words { lookAtAllText(of: record, path, &scratch) }
      } else if let value = record.value(for: field.key) {
        look(at: value, field, number, &scratch)
      } else if let path = field.absence {
        scratch.bytes.removeAll(keepingCapacity: true)
        meet(path, &scratch)
      }
    }
  }

  /// Meets the point whose bytes stand in the scratch.
  @inline(__always)
  private func meet(_ path: UInt32, _ scratch: inout MatchScratch) {
    let point = scratch.bytes.withUnsafeBytes { points.find($0, path: path) }
    if let point { meet(point: point, &scratch) }
  }

  @inline(__always)
  private func meet(point: UInt32, _ scratch: inout MatchScratch) {
    scratch.meet(point, hasCandidates: !points[point].candidates.isEmpty)
  }

  private func look(
    at value: RecordValue, _ field: FieldPaths, _ number: Int, _ scratch: inout MatchScratch
  ) {
    for text in field.values {
      if PointBytes.put(value, text.options, in: &scratch.bytes) == .found {
        meet(text.path, &scratch)
      }
    }
    switch value {
    case .string(let text):
      for prefix in field.prefixes { look(atBeginningsOf: text, prefix, &scratch) }
      if let path = field.words { look(atWordsOf: text, path, &scratch) }
    case .list(let element, let values):
      look(atElements: values, field, &scratch)
      if element == .string, let path = field.words {
        for value in values {
          if case .string(let text) = value { look(atWordsOf: text, path, &scratch) }
        }
      }
    case .location(let place):
      scratch.places[number] = place
      for cell in field.cells {
        scratch.bytes.removeAll(keepingCapacity: true)
        PointBytes.append(
          SphereGrid.cell(
            latitude: place.latitude, longitude: place.longitude, level: cell.level),
          to: &scratch.bytes)
        meet(cell.path, &scratch)
      }
    case .int64, .double, .timestamp, .bytes, .reference, .asset:
      break
    }
    for path in field.ordered {
      guard let ordered = OrderedValue(value, as: path.kind, &scratch.bytes) else { continue }
      scratch.ordered[path.number] = ordered
      for stretch in path.stretches {
        scratch.bytes.removeAll(keepingCapacity: true)
        PointBytes.append(
          Stretches.stretch(of: ordered.floor, level: stretch.level), to: &scratch.bytes)
        meet(stretch.path, &scratch)
      }
    }
  }

  private func look(
    atElements values: [RecordValue], _ field: FieldPaths, _ scratch: inout MatchScratch
  ) {
    for text in field.elements {
      for value in values
      where PointBytes.put(value, text.options, in: &scratch.bytes) == .found {
        meet(text.path, &scratch)
      }
    }
    for prefix in field.elementPrefixes {
      for value in values {
        if case .string(let text) = value { look(atBeginningsOf: text, prefix, &scratch) }
      }
    }
  }

  private func look(
    atBeginningsOf text: String, _ prefix: FieldPaths.Prefix, _ scratch: inout MatchScratch
  ) {
    scratch.bytes.removeAll(keepingCapacity: true)
    PointBytes.append(text, prefix.options, to: &scratch.bytes)
    for length in prefix.lengths.numbers {
      guard length <= scratch.bytes.count else { return }
      let point = scratch.bytes.withUnsafeBytes {
        points.find(UnsafeRawBufferPointer(rebasing: $0[..<length]), path: prefix.path)
      }
      if let point { meet(point: point, &scratch) }
    }
  }

  private func look(atWordsOf text: String, _ path: UInt32, _ scratch: inout MatchScratch) {
    let isPlain = TextTokens.visitPlainWords(of: text) { word in
      if let point = points.find(UnsafeRawBufferPointer(word), path: path) {
        meet(point: point, &scratch)
      }
      return true
    }
    if isPlain { return }
    for word in TextTokens(text).tokens {
      scratch.bytes.removeAll(keepingCapacity: true)
      PointBytes.append(word, [], to: &scratch.bytes)
      meet(path, &scratch)
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
  fileprivate init?(_ value: RecordValue, as kind: OrderedPath.Kind, _ bytes: inout [UInt8]) {
    switch (kind, value) {
    case (.number, .int64(let integer)):
      self.init(integer)
    case (.number, .double(let double)):
      self.init(double)
    case (.timestamp, .timestamp(let timestamp)):
      self.init(exactly: OrderedKey.of(milliseconds: timestamp.milliseconds))
    case (.text(let options), .string(let text)):
      bytes.removeAll(keepingCapacity: true)
      PointBytes.append(text, options, to: &bytes)
      self.init(exactly: bytes.withUnsafeBytes { OrderedKey.of(prefixOf: $0) })
    default:
      return nil
    }
  }
}
