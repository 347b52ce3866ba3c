extension String {
  /// Returns whether the two strings have the same UTF-8 bytes.
  ///
  /// `==` normalizes its operands, so composed and decomposed letters are equal. The time of `==`
  /// also grows with the square of the length of a run of combining marks.
  ///
  /// - Complexity: Linear in the number of bytes.
  public func hasSameBytes(as other: String) -> Bool {
    // Nearly all strings have contiguous storage. For those the comparison is one pass over memory.
    let same = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in
        left.count == right.count
          && UnsafeRawBufferPointer(left).elementsEqual(UnsafeRawBufferPointer(right))
      }
    }
    return (same ?? nil) ?? utf8.elementsEqual(other.utf8)
  }

  /// Adds the string's bytes to `hasher`. Strings that are equal by ``hasSameBytes(as:)`` have the
  /// same hash.
  func hashBytes(into hasher: inout Hasher) {
    var text = self
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(UInt8(0xFF))
  }
}
