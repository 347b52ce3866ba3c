import CPrefetch

extension Array {
  /// Bytes that come near together.
  private static var line: Int { 64 }
  /// Of what lies beside each other the processor fetches the rest by itself when it is read in order.
  private static var mostLines: Int { 4 }

  /// Has an element brought near the processor, where it will be read soon, and does not wait for it.
  @inline(__always)
  func prefetch(_ place: Int) {
    // Nothing is read here: an address where there is no element costs a little and does nothing.
    withUnsafeBufferPointer { elements in
      if let first = elements.baseAddress { CPrefetch.prefetch(first + place) }
    }
  }

  /// Has the first of some elements that lie beside each other brought near, all lines in which they
  /// are: even a single element may lie in two.
  @inline(__always)
  func prefetch(_ places: Range<Int>) {
    withUnsafeBytes { bytes in
      guard let first = bytes.baseAddress, !places.isEmpty else { return }
      let size = MemoryLayout<Element>.stride
      let start = places.lowerBound * size
      let end = Swift.min(places.upperBound * size, start + Self.mostLines * Self.line) - 1
      for place in stride(from: start, to: end, by: Self.line) {
        CPrefetch.prefetch(first + place)
      }
      CPrefetch.prefetch(first + end)
    }
  }
}
