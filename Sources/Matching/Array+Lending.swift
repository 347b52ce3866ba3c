extension Array {
  /// Lends an element where it lies.
  ///
  /// To call a method of a large element, Swift copies the element first and counts a reference for
  /// each table in it, unless the method may change it. This spares the copy: `body` may call methods
  /// that are declared so, and must not change anything, for others may read the same memory.
  @inline(__always)
  func lend<Result>(_ place: Int, _ body: (inout Element) -> Result) -> Result {
    precondition(indices.contains(place), "there is no element \(place) among \(count)")
    return withUnsafeBufferPointer { elements in
      // An array with elements has a base address.
      body(&UnsafeMutablePointer(mutating: elements.baseAddress! + place).pointee)
    }
  }
}
