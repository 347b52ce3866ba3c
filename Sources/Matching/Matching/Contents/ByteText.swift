/// A text that equals another only byte for byte; `String` takes canonically equivalent ones for
/// equal, filters do not.
struct ByteText: Hashable, Sendable {
  var string: String

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
