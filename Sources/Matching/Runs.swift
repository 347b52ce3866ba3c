/// Many short arrays in one piece of memory. What is given back is used again for one of the same
/// length.
struct Runs<Element: BitwiseCopyable & Sendable>: Sendable {
  private(set) var elements: [Element] = []
  /// Where runs begin that are free, by their length.
  private var free: [Int: [UInt32]] = [:]
  /// How many elements are in runs that are not free.
  private(set) var used = 0

  /// - Returns: where the run begins. What it holds is not defined.
  mutating func allocate(_ count: Int, filledWith element: Element) -> UInt32 {
    if count == 0 { return 0 }
    used += count
    if let start = free[count]?.popLast() { return start }
    let start = UInt32(elements.count)
    elements.append(contentsOf: repeatElement(element, count: count))
    return start
  }

  mutating func free(_ start: UInt32, count: Int) {
    if count == 0 { return }
    used -= count
    guard used > 0 else {
      self = Runs()
      return
    }
    free[count, default: []].append(start)
  }

  subscript(place: UInt32) -> Element {
    @inline(__always) get { elements[Int(place)] }
    @inline(__always) set { elements[Int(place)] = newValue }
  }
}
