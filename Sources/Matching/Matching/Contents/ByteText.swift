/// A text that is equal to another one only if their UTF-8 bytes are equal.
///
/// `String` treats canonically equivalent texts as equal. Filters do not.
struct ByteText: Hashable, Sendable {
  /// The text, with contiguous UTF-8 storage.
  var string: String

  /// Creates a text. The initializer makes the storage contiguous.
  init(_ string: String) {
    self.string = string
    self.string.makeContiguousUTF8()
  }

  static func == (left: ByteText, right: ByteText) -> Bool {
    left.string.utf8.elementsEqual(right.string.utf8)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(string.utf8.count)
    // The initializer made the storage contiguous, so the closure always runs.
    string.utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
  }
}
