import Synchronization

/// Makes an extract that searches want, on a thread beside theirs.
final class ExtractMaking: StoreJob {
  let gathersWrites = false
  private let name: IndexExtract.Name
  private let shelf: ExtractShelf
  private let made = Mutex<IndexExtract?>(nil)

  init(of name: IndexExtract.Name, for shelf: ExtractShelf) {
    self.name = name
    self.shelf = shelf
  }

  func run(in transaction: StoreTransaction) throws {
    let extract = try IndexExtract(reading: name, upTo: shelf.limit, in: transaction)
    made.withLock { $0 = extract }
  }

  func finish(_ failure: (any Error)?) {
    shelf.receive(failure == nil ? made.withLock { $0 } : nil, as: name)
  }
}
