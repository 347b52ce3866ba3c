/// Many short arrays in one piece of memory. What is given back is used again for one of the same
/// length, and all of it once their owner moves what is left into new ones.
struct Runs<Element: BitwiseCopyable & Sendable>: Sendable {
  private(set) var elements: [Element] = []
  /// Where runs begin that are free, by their length.
  private var free: [Int: [UInt32]] = [:]
  /// How many elements are in runs that are not free.
  private(set) var used = 0
  private let filler: Element

  /// - Parameter filler: What new runs hold.
  init(filler: Element) {
    self.filler = filler
  }

  /// Whether more is free than used, so that to move what is used is worth its time.
  var isWorthMoving: Bool { elements.count > 2 * used + 4_096 }

  /// How much memory all takes.
  var bytes: Int {
    elements.bytes + free.values.reduce(0) { $0 + $1.bytes }
  }

  /// - Returns: where the run begins. What it holds is not defined.
  mutating func allocate(_ count: Int) -> UInt32 {
    if count == 0 { return 0 }
    used += count
    if let start = free[count]?.popLast() { return start }
    let start = UInt32(elements.count)
    elements.append(contentsOf: repeatElement(filler, count: count))
    return start
  }

  mutating func free(_ start: UInt32, count: Int) {
    if count == 0 { return }
    used -= count
    guard used > 0 else {
      self = Runs(filler: filler)
      return
    }
    free[count, default: []].append(start)
  }

  /// Adds a copy of a run of others.
  ///
  /// - Returns: where it begins.
  mutating func add(_ others: Runs, _ start: UInt32, _ count: UInt32) -> UInt32 {
    let first = allocate(Int(count))
    for place in 0..<count { self[first + place] = others[start + place] }
    return first
  }

  /// None, of the kind of these, with memory for as many as are used here.
  func emptied() -> Runs {
    var runs = Runs(filler: filler)
    runs.elements.reserveCapacity(used)
    return runs
  }

  subscript(place: UInt32) -> Element {
    @inline(__always) get { elements[Int(place)] }
    @inline(__always) _modify { yield &elements[Int(place)] }
  }
}
