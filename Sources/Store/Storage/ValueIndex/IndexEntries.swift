import CloudKitModel

/// A field and a key: the part of a row that does not name the record.
struct IndexEntry: Hashable {
  /// Negative for the index of the field's words.
  var fieldNumber: Int64
  var key: [UInt8]
}

/// The entries of one record, with the keys in one block of memory.
struct IndexEntries: Sendable {
  /// An entry in the block.
  struct Place {
    /// Negative for the index of the field's words.
    var fieldNumber: Int64
    /// The end of the key in ``IndexEntries/keys``, exclusive.
    var end: Int
  }

  private(set) var keys: [UInt8] = []
  private(set) var places: [Place] = []

  /// Encrypted values, and values of fields without an index, have no entries.
  ///
  /// - Parameter hasOwner: whether the database has an owner. The owner creates nearly all records,
  ///   so creators are then not indexed.
  init(of record: Record, fields: [String: RecordTypeEntry.Field], hasOwner: Bool) {
    for (name, value) in record.fields where !record.encryptedFields.contains(name) {
      guard let field = fields[name] else { continue }
      if field.hasValueEntries { addKeys(of: value, to: field.number) }
      if field.hasTokenEntries { addWords(of: value, to: field.tokenNumber) }
    }
    for system in RecordTypeEntry.indexedSystemFields {
      if system == .createdUserRecordName, hasOwner { continue }
      guard let field = fields[system.schemaName], field.hasValueEntries,
        let value = record.value(for: .system(system))
      else { continue }
      addKeys(of: value, to: field.number)
    }
  }

  var list: [IndexEntry] {
    var start = 0
    return places.map { place in
      defer { start = place.end }
      return IndexEntry(fieldNumber: place.fieldNumber, key: Array(keys[start..<place.end]))
    }
  }

  /// One key, or one for each member of a list.
  private mutating func addKeys(of value: RecordValue, to fieldNumber: Int64) {
    if case .list = value {
      for key in ValueKey.keys(of: value) { add(key, to: fieldNumber) }
    } else if ValueKey.append(keyOf: value, to: &keys) {
      places.append(Place(fieldNumber: fieldNumber, end: keys.count))
    }
  }

  private mutating func addWords(of value: RecordValue, to fieldNumber: Int64) {
    if case .string(let text) = value, addFewWords(of: text, to: fieldNumber) { return }
    for key in ValueKey.tokenKeys(of: value) { add(key, to: fieldNumber) }
  }

  private mutating func add(_ key: [UInt8], to fieldNumber: Int64) {
    keys += key
    places.append(Place(fieldNumber: fieldNumber, end: keys.count))
  }

  /// More words are not compared with each other to find duplicates.
  private static let few = 24

  /// Makes no `String` of each word. Returns false, without a change, for a text that is not ASCII
  /// or has many words.
  private mutating func addFewWords(of text: String, to fieldNumber: Int64) -> Bool {
    let (keyCount, placeCount) = (keys.count, places.count)
    let isPlain = TextTokens.visitPlainWords(of: text) { word in
      guard word.count <= ValueKey.textLimit, places.count - placeCount < Self.few else {
        return false
      }
      if !holds(word, from: placeCount, start: keyCount) {
        keys.append(contentsOf: word)
        places.append(Place(fieldNumber: fieldNumber, end: keys.count))
      }
      return true
    }
    if !isPlain {
      keys.removeSubrange(keyCount...)
      places.removeSubrange(placeCount...)
    }
    return isPlain
  }

  /// Whether an entry from `first` on has this word as its key. `start` is the start of the first
  /// one's key in ``keys``.
  private func holds(_ word: some Collection<UInt8>, from first: Int, start: Int) -> Bool {
    var start = start
    for place in places[first...] {
      if place.end - start == word.count, keys[start..<place.end].elementsEqual(word) {
        return true
      }
      start = place.end
    }
    return false
  }
}
