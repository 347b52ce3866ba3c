import SQLEngine

/// A connection of an open store with its caches. One thread at a time uses it.
final class StoreConnection {
  let engine: any SQLConnection
  let context: StoreContext
  let caches: StoreCaches

  init(
    over engine: any SQLConnection, _ context: StoreContext, caches: StoreCaches = StoreCaches()
  ) {
    self.engine = engine
    self.context = context
    self.caches = caches
  }
}
