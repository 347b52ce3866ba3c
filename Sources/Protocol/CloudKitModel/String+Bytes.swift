extension String {
  /// Whether the two are the same bytes. `==` normalizes: it takes composed and decomposed letters for
  /// equal, and the square of a run of combining marks to tell.
  public func hasSameBytes(as other: String) -> Bool {
    // Nearly all strings are contiguous: then this is one comparison of memory.
    let same = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in
        left.count == right.count
          && UnsafeRawBufferPointer(left).elementsEqual(UnsafeRawBufferPointer(right))
      }
    }
    return (same ?? nil) ?? utf8.elementsEqual(other.utf8)
  }

  /// Feeds the text's bytes to `hasher`, so that texts of the same bytes hash alike.
  func hashBytes(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(UInt8(0xFF))
  }
}
