import CPrefetch

extension Array {
  private static var line: Int { 64 }
  /// The number of cache lines after which a call stops prefetching. The hardware prefetcher
  /// fetches the rest when the elements are read in order.
  private static var mostLines: Int { 4 }

  /// Starts to load the element at `place` into the processor's cache and returns at once.
  ///
  /// Call it some time before the element is read. The element is then in the cache when it is
  /// needed.
  ///
  /// - Parameter place: An index of the array. An index out of bounds is harmless.
  @inline(__always)
  func prefetch(_ place: Int) {
    // A prefetch reads no value, so an address without an element is harmless.
    withUnsafeBufferPointer { elements in
      if let first = elements.baseAddress { CPrefetch.prefetch(first + place) }
    }
  }

  /// Starts to load adjacent elements into the processor's cache and returns at once.
  ///
  /// The call covers the first 256 bytes of the elements. These bytes touch at most five cache
  /// lines, because they may begin in the middle of a line.
  ///
  /// - Parameter places: The indices of the elements. An empty range does nothing.
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
