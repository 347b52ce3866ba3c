import CPrefetch

extension Array {
  /// Has an element brought near the processor, where it will be read soon, and does not wait for it.
  @inline(__always)
  func prefetch(_ place: Int) {
    // Nothing is read here: an address where there is no element costs a little and does nothing.
    withUnsafeBufferPointer { elements in
      if let first = elements.baseAddress { CPrefetch.prefetch(first + place) }
    }
  }
}
