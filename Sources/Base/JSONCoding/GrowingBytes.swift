import Foundation

/// The bytes of a text that is being written: they only grow, and are handed over without a copy.
///
/// The memory is its own and not an array's, because an array can neither be given to `Data` as it
/// is nor written to beyond its end. Nothing outside this type has a pointer to it.
struct GrowingBytes: ~Copyable, @unchecked Sendable {  // The only owner of its memory.
  private var start: UnsafeMutableRawPointer
  private(set) var count = 0
  private var capacity: Int

  init(reserving capacity: Int) {
    self.capacity = max(capacity, 64)
    start = Self.allocated(nil, self.capacity)
  }

  deinit { free(start) }

  /// Gives the bytes away.
  consuming func takeData() -> Data {
    let data = Data(bytesNoCopy: start, count: count, deallocator: .free)
    discard self
    return data
  }

  var array: [UInt8] { [UInt8](UnsafeRawBufferPointer(start: start, count: count)) }
  var text: String {
    String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    start.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  @inline(__always)
  mutating func append(_ text: StaticString) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    reserve(bytes.count)
    memcpy(start + count, source, bytes.count)
    count += bytes.count
  }

  /// Appends the number in decimal, with a sign when it is negative.
  mutating func appendDigits(of integer: Int64) {
    // 19 digits and a sign at most. They are found from the last to the first.
    let longest = 20
    reserve(longest)
    let place = (start + count).assumingMemoryBound(to: UInt8.self)
    var first = longest
    var rest = integer.magnitude
    repeat {
      first -= 1
      place[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    if integer < 0 {
      first -= 1
      place[first] = UInt8(ascii: "-")
    }
    memmove(place, place + first, longest - first)
    count += longest - first
  }

  @inline(__always)
  private mutating func reserve(_ additional: Int) {
    if capacity - count < additional { grow(by: additional) }
  }

  @inline(never)
  private mutating func grow(by additional: Int) {
    capacity = max(2 * capacity, count + additional)
    start = Self.allocated(start, capacity)
  }

  private static func allocated(
    _ old: UnsafeMutableRawPointer?, _ capacity: Int
  ) -> UnsafeMutableRawPointer {
    guard let memory = realloc(old, capacity) else {
      // As Swift's own collections do.
      fatalError("there is no memory for \(capacity) bytes of JSON")
    }
    return memory
  }
}
