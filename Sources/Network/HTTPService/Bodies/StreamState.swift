import Foundation

/// The bytes between the producer of a stream and its reader, and which of the two has to wait.
///
/// At most `capacity` bytes and one chunk are held. Every ``ReadAction/suspend`` is followed by
/// exactly one action that says `resume`.
struct StreamState {
  enum WriteAction: Equatable {
    case accepted(resume: Bool)
    case wait
    case closed
  }

  enum ReadAction: Equatable {
    case bytes([UInt8])
    case suspend
    case end
    case fail
  }

  private enum Ending {
    case complete
    case broken
  }

  let capacity: Int
  private var buffer: [UInt8] = []
  private var head = 0
  private var ending: Ending?
  private(set) var isSuspended = false

  init(capacity: Int) {
    self.capacity = capacity
  }

  var count: Int { buffer.count - head }
  var hasRoom: Bool { count < capacity }
  var isClosed: Bool { ending != nil }

  mutating func write(_ chunk: Data) -> WriteAction {
    guard ending == nil else { return .closed }
    guard hasRoom else { return .wait }
    guard !chunk.isEmpty else { return .accepted(resume: false) }
    if head > 0 {
      buffer.removeFirst(head)
      head = 0
    }
    buffer.append(contentsOf: chunk)
    return .accepted(resume: takeSuspension())
  }

  /// The producer is done; what is buffered is still sent. Tells whether to resume.
  mutating func finish() -> Bool {
    if ending == nil { ending = .complete }
    return takeSuspension()
  }

  /// The stream is cut where it is. Tells whether to resume.
  mutating func fail() -> Bool {
    ending = .broken
    return takeSuspension()
  }

  mutating func read(upTo limit: Int) -> ReadAction {
    if ending == .broken { return .fail }
    if count > 0 {
      let end = head + min(limit, count)
      let bytes = Array(buffer[head..<end])
      head = end
      if head == buffer.count {
        // Without its memory: most of a stream's time nothing waits here.
        buffer = []
        head = 0
      }
      return .bytes(bytes)
    }
    if ending == .complete { return .end }
    isSuspended = true
    return .suspend
  }

  private mutating func takeSuspension() -> Bool {
    defer { isSuspended = false }
    return isSuspended
  }
}
