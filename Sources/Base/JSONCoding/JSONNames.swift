/// The names of an object's members while the text is parsed, to find a name that is repeated.
///
/// RFC 8259 leaves open which of several equal members counts, so programs that read the same text
/// may see different objects. I-JSON (RFC 7493) forbids such texts.
struct JSONNames {
  private typealias Entry = JSONDocument.Entry

  /// The number of members up to which each name is compared with each other one.
  private static let few = 12

  private let entries: [JSONDocument.Entry]
  private let bytes: UnsafeBufferPointer<UInt8>
  private let object: Int

  init(
    of object: Int, in entries: [JSONDocument.Entry], _ bytes: UnsafeBufferPointer<UInt8>
  ) {
    self.object = object
    self.entries = entries
    self.bytes = bytes
  }

  /// The entry of the first name that another member before it has too; `nil` if no name is
  /// repeated.
  ///
  /// - Complexity: O(*n* log *n*), where *n* is the length of the object's text.
  var firstRepeated: Int? {
    let count = Int(entries[object].content)
    if count < 2 { return nil }
    return count <= Self.few ? firstRepeatedOfFew : firstRepeatedOfMany(count)
  }

  private var firstRepeatedOfFew: Int? {
    var name = next(after: object + 1)
    while name < entries.count {
      var earlier = object + 1
      while earlier < name {
        if isEqual(earlier, name) { return name }
        earlier = next(after: earlier)
      }
      name = next(after: name)
    }
    return nil
  }

  /// Sorts the names by their hashes, so that equal names stand side by side. The hashes have a
  /// random seed, so nobody can choose names of one hash.
  private func firstRepeatedOfMany(_ count: Int) -> Int? {
    var names: [(bucket: Int, entry: Int)] = []
    names.reserveCapacity(count)
    var name = object + 1
    while name < entries.count {
      names.append((hash(of: name), name))
      name = next(after: name)
    }
    names.sort { ($0.bucket, $0.entry) < ($1.bucket, $1.entry) }
    var first: Int?
    for index in names.indices.dropFirst() where names[index].bucket == names[index - 1].bucket {
      let (earlier, later) = (names[index - 1].entry, names[index].entry)
      if isEqual(earlier, later) { first = min(first ?? later, later) }
    }
    return first
  }

  private func next(after name: Int) -> Int { Int(entries[name + 1].end) }

  private func isEqual(_ one: Int, _ other: Int) -> Bool {
    let (one, other) = (entries[one], entries[other])
    if one.kind == .string, other.kind == .string {
      guard one.content == other.content else { return false }
      // Names such as `field1` and `field2` differ at their ends.
      let (start, otherStart) = (Int(one.start), Int(other.start))
      return (0..<Int(one.content)).reversed().allSatisfy {
        bytes[start + $0] == bytes[otherStart + $0]
      }
    }
    return JSONEscape.unescaped(raw(one)) == JSONEscape.unescaped(raw(other))
  }

  private func hash(of name: Int) -> Int {
    var hasher = Hasher()
    if entries[name].kind == .string {
      hasher.combine(bytes: UnsafeRawBufferPointer(raw(entries[name])))
    } else {
      JSONEscape.unescaped(raw(entries[name])).withUnsafeBytes { hasher.combine(bytes: $0) }
    }
    return hasher.finalize()
  }

  func text(of name: Int) -> String {
    String(decoding: JSONEscape.unescaped(raw(entries[name])), as: UTF8.self)
  }

  private func raw(_ name: Entry) -> UnsafeBufferPointer<UInt8> {
    let start = Int(name.start)
    return UnsafeBufferPointer(rebasing: bytes[start..<(start + Int(name.content))])
  }
}
