/* fleet_model.pml - the fleet's protocol as a model for spin: every order of events within bounds is tried, not drawn.
 * MODEL.md says what is covered and what is not; fleet_model.py runs it. What is modelled is src/lease/PROTOCOL.md: the writes
 * are those of PROTOCOL.md, "Operations"; apply() has their conditions, answer() is PROTOCOL.md, "Refusals and lost
 * answers"; DEAD and VERDICT are PROTOCOL.md, "Eviction"; the assertions are PROTOCOL.md, "Invariants".
 *
 * Two leases, of a parent (0) and its child (1), whose row does not exist until somebody makes it. Instances
 * 1..NI; an instance is one incarnation of one worker, so a worker that comes again is another instance. The last one
 * never crashes and its heartbeats always pass: somebody must survive. It may start at any time. Each instance has one
 * write of a lease under way; that may be lost, delayed past its time-out, doubled, or arrive after its sender is dead
 * (one stray copy at a time, in `stray`). Heartbeats have fates of their own. Time is a clock that ticks for all at
 * once; an instance that is not scheduled meanwhile is one that was stopped.
 *
 * The assignment is left out: before `calm` any instance may want any lease at any moment, which contains every leader,
 * two leaders, and every old assignment. From `calm` on no fault begins and the assignment stands; then everything must
 * be read to its end without help.
 *
 * -DBUG=n plants a mistake that has to be found. */
#ifndef BUG
#define BUG 0
#endif
#ifndef NI
#define NI 2
#endif
#ifndef RP
#define RP 2            /* records of the parent */
#endif
#ifndef RC
#define RC 1            /* and of the child */
#endif
#ifndef FENCE
#define FENCE 2         /* ticks after SENDING the last good heartbeat until the lease deadline: no more hand-outs */
#endif
#ifndef LEASE
#define LEASE 3         /* ticks of silence after which a worker may be evicted */
#endif
#ifndef EMAX
#define EMAX 3          /* changes of a lease's owner before calm */
#endif
#ifndef FAULTS
#define FAULTS 2        /* writes of leases that meet a fate */
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef HBFAULTS
#define HBFAULTS 1      /* heartbeats that are lost */
#endif
#ifndef OPDEL
#define OPDEL 0         /* rows of workers that an operator deletes */
#endif
#ifndef FORCE
#define FORCE 1         /* hand-overs whose deadline passes with records out */
#endif
/* -DSTALE: an image that was read before the last change of owner may still arrive.
 * -DLATEJOIN: a copy of the first registration may still arrive.
 * -DREBOOT: instances 1 and 2 are two incarnations of one id, the second over the first's tombstone (NI 3).
 * -DOWNED: the table grants little, so any instance, as a leader, may make the child's row with itself as the owner. */

#define END 9
#define RECORDS(x) ((x)==0 -> RP : RC)
#define AT(i,x) (2*(i)+(x))

/* kinds of write: TAKE is RETAKE too; CHECKPOINT; TRANSFER; RELEASE; END; CREATE; CLAIM; REGISTER */
#define TAKE 1
#define CKPT 2
#define XFER 3
#define REL 4
#define ENDW 5
#define CREATE 6
#define CLAIM 7
#define JOIN 8
/* where a write is */
#define FLY 1
#define OKAY 2
#define REFUSED 3
#define UNSURE 4
/* a worker's row */
#define ABSENT 0
#define ALIVE 1
#define GONE 2
#define MISSING 3
/* a lease, as an instance sees it */
#define NONE 0
#define OWN 1
#define DRAIN 2
#define LET 3

/* ---- the table --------------------------------------------------------------------------------------------------- */
bit  exists[2]; byte owner[2], epoch[2], pos[2], claim[2];
byte row[NI+1];
/* ---- time -------------------------------------------------------------------------------------------------------- */
byte quiet[NI+1];       /* ticks since the last heartbeat that got in: the most that any observer can have seen */
byte left[NI+1];        /* ticks until its lease deadline */
byte hb[NI+1], hbage[NI+1];
/* ---- instances --------------------------------------------------------------------------------------------------- */
byte up[NI+1];          /* 0 not started, 1 runs, 2 dead */
byte hold[2*NI+2], ep[2*NI+2], del[2*NI+2], ack[2*NI+2];
byte last[2*NI+2];      /* the greatest epoch it ever released */
bit  kid[NI+1];         /* it knows that the child has a row */
#ifdef OWNED
bit  born;              /* the child's row was made with an owner */
bit  made[NI+1];        /* it has sent such a row, and has no certain answer yet */
#endif
typedef msg { byte kd, lx, ow, ec, ps, dst; bit frc }
msg m[NI+1]; byte ms[NI+1];
msg stray; byte strayfrom;
byte tgt[2]; bit calm;  /* the assignment that stands in the end */
byte faults = FAULTS, crashes = CRASHES, hbfaults = HBFAULTS, opdel = OPDEL, force = FORCE;
#ifdef STALE            /* each row before its last change of owner */
byte po[2], pe[2], pp[2];
#endif
#ifdef REBOOT           /* what instance NI knows of the id that 1 and 2 share */
byte named;             /* the owner that a lease showed it */
byte image;             /* the incarnation that was read since; 0: none */
#endif
/* ---- what only the checks know ----------------------------------------------------------------------------------- */
byte dn[2];             /* records that some user acknowledged (bits) */
byte dme[2];            /* the furthest that was handed out in this epoch */
byte cko[2];            /* whose checkpoint was accepted in this epoch */

#define DONE (pos[0]==END && exists[1] && pos[1]==END)
/* Evicted, as its row says; or its row is missing for a lease. Bug 5: silence alone is taken for it. */
#define DEAD(o) (row[o]==GONE || (row[o]==MISSING && quiet[o]>=LEASE) || (BUG==5 && quiet[o]>=LEASE))
#ifdef REBOOT
/* Another incarnation proves something only by a read that began after a lease named this one. Bug 10: by any read. */
#define OTHERBOOT(i,o) ((i)==NI && (o)<NI && image!=0 && image!=(o) && (named==(o) || BUG==10))
#define SHOWS(o) ((o)==1 && up[2]==0 || (o)==2 && up[2]!=0)
#define VERDICT(i,o) ((i)==NI && (o)<NI -> OTHERBOOT(i,o) || (SHOWS(o) && DEAD(o)) : DEAD(o))
#else
#define VERDICT(i,o) DEAD(o)
#endif
#define WANT(i,x) (!calm || tgt[x]==(i))
#define ROOM(x) (epoch[x] < (calm -> EMAX+4 : EMAX))
#define ALLACKED(x,p) ((dn[x] & ((1<<(p))-1)) == ((1<<(p))-1))

#ifdef STALE
#define keep(x) po[x]=owner[x]; pe[x]=epoch[x]; pp[x]=pos[x]
#else
#define keep(x) skip
#endif
#define newepoch(x) epoch[x]++; cko[x]=0; claim[x]=0; dme[x]=pos[x]

/* CREATE as a leader's, where the table grants little: the row has its maker as the owner, in epoch 1, as if a TAKE had
 * followed. Bug 11: it is written over whatever row there is. A row that was born so and never taken since belongs to its
 * maker, who may not want it. Unlike the receiver of a transfer the maker has no claim there, so it has to look for the row
 * until it has a certain answer. */
#ifdef OWNED
#define ABSENT_ROW(w) (!exists[1] || (BUG==11 && w.ow!=0))
#define bear(w) \
  if \
  :: w.ow!=0 -> born = 1; owner[1] = w.ow; epoch[1] = 1; pos[1] = 0; cko[1] = 0; claim[1] = 0; dme[1] = 0 \
  :: else \
  fi;
#define HEARS(i,x) ((x)!=1 || !born || epoch[1]!=1 || WANT(i,x) || made[i])
/* Its answer is certain. Bug 12: an answer that was lost is one, too. */
#define settled(i) made[i] = 0;
#define unsettled(i) if :: BUG==12 -> made[i] = 0 :: else fi;
#define BEGINS(i) (m[i].ow!=0 && hold[AT(i,1)]==NONE && last[AT(i,1)]<1)
#define created(i) if :: BEGINS(i) -> begin(i, 1, 1, 0) :: else fi;
/* A copy of it got in; bug 13: or another's row is there. */
#define FOUND(i) ((owner[1]==(i) && epoch[1]==1 || BUG==13) && BUG!=12)
#define found(i) if :: BEGINS(i) && FOUND(i) -> begin(i, 1, 1, pos[1]) :: else fi;
#else
#define ABSENT_ROW(w) (!exists[1])
#define bear(w)
#define HEARS(i,x) true
#define settled(i)
#define unsettled(i)
#define created(i)
#define found(i)
#endif

/* ---- the server: one conditional write ----------------------------------------------------------------------------- */
#define apply(w, from, ok) \
  ok = 0; \
  if \
  :: w.kd==TAKE && exists[w.lx] && owner[w.lx]==w.ow && epoch[w.lx]==w.ec && pos[w.lx]!=END -> \
       keep(w.lx); owner[w.lx] = from; newepoch(w.lx); w.ps = pos[w.lx]; ok = 1 \
  :: w.kd==CKPT && exists[w.lx] && owner[w.lx]==from && (BUG==1 || epoch[w.lx]==w.ec) && pos[w.lx]<=w.ps -> \
       assert(cko[w.lx]==0 || cko[w.lx]==from);                     /* one writer an epoch */ \
       assert(epoch[w.lx]==w.ec);                                   /* none of an ownership that is over */ \
       assert(ALLACKED(w.lx, w.ps));                                /* only what was acknowledged */ \
       cko[w.lx] = from; pos[w.lx] = w.ps; ok = 1 \
  :: w.kd==XFER && exists[w.lx] && owner[w.lx]==from && (BUG==1 || epoch[w.lx]==w.ec) && claim[w.lx]==w.dst && pos[w.lx]<=w.ps -> \
       assert(ALLACKED(w.lx, w.ps)); \
       assert(w.frc || w.ps>=dme[w.lx]);                            /* handed over in good order: nothing comes again */ \
       keep(w.lx); pos[w.lx] = w.ps; owner[w.lx] = w.dst; newepoch(w.lx); ok = 1 \
  :: w.kd==REL && exists[w.lx] && owner[w.lx]==from && (BUG==1 || epoch[w.lx]==w.ec) && pos[w.lx]<=w.ps -> \
       assert(ALLACKED(w.lx, w.ps)); \
       assert(w.frc || w.ps>=dme[w.lx]); \
       keep(w.lx); pos[w.lx] = w.ps; owner[w.lx] = 0; claim[w.lx] = 0; ok = 1 \
  :: w.kd==ENDW && exists[w.lx] && owner[w.lx]==from && epoch[w.lx]==w.ec && pos[w.lx]<END -> \
       assert(ALLACKED(w.lx, RECORDS(w.lx))); \
       assert(BUG==6 || w.lx==1 || exists[1]);                      /* no end without the child's row */ \
       pos[w.lx] = END; owner[w.lx] = 0; claim[w.lx] = 0; ok = 1 \
  :: w.kd==CREATE && ABSENT_ROW(w) -> exists[1] = 1; bear(w) ok = 1 \
  :: w.kd==CLAIM && exists[w.lx] && owner[w.lx]==w.ow && epoch[w.lx]==w.ec -> claim[w.lx] = from; ok = 1 \
  :: w.kd==JOIN && (row[from]==ABSENT || (BUG==9 && row[from]==GONE)) -> /* never over its own tombstone */ \
       row[from] = ALIVE; quiet[from] = 0; ok = 1 \
  :: else -> skip \
  fi
#define copy(a, b) b.kd=a.kd; b.lx=a.lx; b.ow=a.ow; b.ec=a.ec; b.ps=a.ps; b.dst=a.dst; b.frc=a.frc
#define wipe(a) a.kd=0; a.lx=0; a.ow=0; a.ec=0; a.ps=0; a.dst=0; a.frc=0
#define send(I,K,X,O,E,P,T,F) m[I].kd=K; m[I].lx=X; m[I].ow=O; m[I].ec=E; m[I].ps=P; m[I].dst=T; m[I].frc=F; ms[I]=FLY
#define finish(i) wipe(m[i]); ms[i]=0

/* ---- an ownership -------------------------------------------------------------------------------------------------- */
#define drop(i,x) \
  hold[AT(i,x)]=NONE; if :: ep[AT(i,x)]>last[AT(i,x)] -> last[AT(i,x)]=ep[AT(i,x)] :: else fi; \
  ep[AT(i,x)]=0; del[AT(i,x)]=0; ack[AT(i,x)]=0
#define begin(i,x,e,p) hold[AT(i,x)]=OWN; ep[AT(i,x)]=e; del[AT(i,x)]=p; ack[AT(i,x)]=p
/* Taken anew by who had it: nobody was between, so what it knows to be acknowledged is. */
#define resume(i,x,e,p) \
  hold[AT(i,x)]=OWN; ep[AT(i,x)]=e; \
  if :: ack[AT(i,x)]<p -> ack[AT(i,x)]=p :: else fi; del[AT(i,x)]=ack[AT(i,x)]
#define forget(i,x) hold[AT(i,x)]=0; ep[AT(i,x)]=0; del[AT(i,x)]=0; ack[AT(i,x)]=0; last[AT(i,x)]=0
#define die(i) \
  if :: ms[i]==FLY && stray.kd==0 -> copy(m[i], stray); strayfrom = i  /* what was sent may still arrive */ \
     :: true fi; \
  finish(i); up[i]=2; left[i]=0; kid[i]=0; settled(i) \
  if :: hb[i]==1 -> skip :: else -> hb[i]=0; hbage[i]=0 fi; \
  forget(i,0); forget(i,1)

#define MINE(i,x) (owner[x]==(i) && epoch[x]==ep[AT(i,x)])
#define IDLEHAND(i) (up[i]==1 && ms[i]==0)
#define ATEND(i,x) (ack[AT(i,x)]==RECORDS(x))
#define KIDOK(i,x) ((x)==1 || kid[i] || BUG==3 || BUG==6)

inline answer(i) {
  x = m[i].lx;
  if
  :: ms[i]==OKAY ->
     if
     :: m[i].kd==TAKE && hold[AT(i,x)]==NONE -> begin(i, x, m[i].ec+1, m[i].ps)
     :: m[i].kd==TAKE && hold[AT(i,x)]==LET -> resume(i, x, m[i].ec+1, m[i].ps)
     :: m[i].kd==XFER || m[i].kd==REL || m[i].kd==ENDW ->
        if :: BUG==3 && m[i].kd==ENDW && x==0 -> kid[i]=1 /* bug 3: only now it thinks of the child */ :: else fi;
        drop(i,x)
     :: m[i].kd==CREATE -> settled(i) created(i) kid[i] = 1
     :: else -> skip
     fi
  :: ms[i]==REFUSED ->                /* judged by the row as it is, read after the refusal */
     if
     :: m[i].kd==TAKE && owner[x]==i && epoch[x]==m[i].ec+1 && last[AT(i,x)]<epoch[x] && hold[AT(i,x)]==NONE ->
          begin(i, x, epoch[x], pos[x])                             /* a copy of it got in */
     :: m[i].kd==TAKE && owner[x]==i && epoch[x]==m[i].ec+1 && hold[AT(i,x)]==LET -> resume(i, x, epoch[x], pos[x])
     :: m[i].kd==CREATE -> settled(i) found(i) kid[i] = 1
     :: else -> if :: hold[AT(i,x)]!=NONE && !MINE(i,x) -> drop(i,x) :: else fi
     fi
  fi;
  finish(i)
}

#ifdef STALE
#define OLDIMAGE(i,x) (IDLEHAND(i) && hold[AT(i,x)]==NONE && exists[x] && po[x]==(i) && (pe[x]>last[AT(i,x)] || BUG==7) && !calm)
#define ADOPTOLD(i,x) begin(i, x, pe[x], pp[x])
#else
#define OLDIMAGE(i,x) false
#define ADOPTOLD(i,x) skip
#endif

#define steps(i, x) \
  /* hand out one record: the clock is read anew before */ \
  atomic { up[i]==1 && hold[AT(i,x)]==OWN && left[i]>0 && del[AT(i,x)]<RECORDS(x) && (x==0 || pos[0]==END) -> \
     del[AT(i,x)]++; \
     assert(owner[x]==i && epoch[x]==ep[AT(i,x)]);                 /* never beside a newer owner */ \
     assert(x==0 || pos[0]==END);                                  /* never before the parent's end */ \
     assert(pos[x] < END && del[AT(i,x)] > pos[x]);                /* never what a checkpoint has settled */ \
     if :: del[AT(i,x)]>dme[x] -> dme[x]=del[AT(i,x)] :: else fi } \
:: atomic { up[i]==1 && (hold[AT(i,x)]==OWN || hold[AT(i,x)]==DRAIN) && ack[AT(i,x)]<del[AT(i,x)] -> \
     ack[AT(i,x)]++; dn[x] = dn[x] | (1<<(ack[AT(i,x)]-1)) } \
:: atomic { IDLEHAND(i) && (hold[AT(i,x)]==OWN || hold[AT(i,x)]==DRAIN) && ack[AT(i,x)]>pos[x] -> \
     send(i, CKPT, x, 0, ep[AT(i,x)], ack[AT(i,x)], 0, 0) } \
:: atomic { IDLEHAND(i) && hold[AT(i,x)]==NONE && WANT(i,x) && exists[x] && pos[x]!=END && ROOM(x) && \
     (owner[x]==0 || (owner[x]!=i && VERDICT(i,owner[x]))) -> \
     send(i, TAKE, x, owner[x], epoch[x], 0, 0, 0) } \
:: atomic { IDLEHAND(i) && hold[AT(i,x)]==NONE && exists[x] && owner[x]==i && epoch[x]>last[AT(i,x)] && HEARS(i,x) -> \
     begin(i, x, epoch[x], pos[x]) }                               /* it was transferred to me, or made by me */ \
:: atomic { OLDIMAGE(i,x) -> ADOPTOLD(i,x) } \
:: atomic { IDLEHAND(i) && hold[AT(i,x)]==NONE && WANT(i,x) && exists[x] && pos[x]!=END && ROOM(x) && \
     owner[x]!=0 && owner[x]!=i && row[owner[x]]==ALIVE && claim[x]!=i -> \
     send(i, CLAIM, x, owner[x], epoch[x], 0, 0, 0) } \
  /* a claim of the evicted is not listened to, and another may be written over it */ \
:: atomic { up[i]==1 && hold[AT(i,x)]==OWN && claim[x]!=0 && claim[x]!=i && !DEAD(claim[x]) && MINE(i,x) && (!calm || tgt[x]!=i) -> \
     hold[AT(i,x)] = DRAIN } \
:: atomic { IDLEHAND(i) && hold[AT(i,x)]==DRAIN && claim[x]!=0 && !DEAD(claim[x]) && (ack[AT(i,x)]==del[AT(i,x)] || BUG==4) -> \
     send(i, XFER, x, 0, ep[AT(i,x)], ack[AT(i,x)], claim[x], 0); hold[AT(i,x)] = LET } \
:: atomic { IDLEHAND(i) && hold[AT(i,x)]==DRAIN && claim[x]!=0 && !DEAD(claim[x]) && ack[AT(i,x)]<del[AT(i,x)] && force>0 && !calm -> \
     force--; send(i, XFER, x, 0, ep[AT(i,x)], ack[AT(i,x)], claim[x], 1); hold[AT(i,x)] = LET } \
  /* whoever asked died meanwhile: it becomes free */ \
:: atomic { IDLEHAND(i) && hold[AT(i,x)]==DRAIN && claim[x]!=0 && DEAD(claim[x]) && ack[AT(i,x)]==del[AT(i,x)] -> \
     send(i, REL, x, 0, ep[AT(i,x)], ack[AT(i,x)], 0, 0); hold[AT(i,x)] = LET } \
:: atomic { IDLEHAND(i) && hold[AT(i,x)]==DRAIN && claim[x]==0 -> hold[AT(i,x)] = LET }   /* lost, or the claim is gone */ \
:: atomic { IDLEHAND(i) && !calm && hold[AT(i,x)]==OWN && ack[AT(i,x)]==del[AT(i,x)] -> \
     send(i, REL, x, 0, ep[AT(i,x)], ack[AT(i,x)], 0, 0); hold[AT(i,x)] = LET }            /* a stop, a stall */ \
  /* released, and not settled: finish that, or take it anew with a higher epoch; never just go on */ \
:: atomic { IDLEHAND(i) && hold[AT(i,x)]==LET -> \
     if \
     :: !MINE(i,x) -> drop(i,x) \
     :: MINE(i,x) && ATEND(i,x) && KIDOK(i,x) -> send(i, ENDW, x, 0, ep[AT(i,x)], 0, 0, 0) \
     :: MINE(i,x) && claim[x]!=0 && claim[x]!=i && !DEAD(claim[x]) -> send(i, XFER, x, 0, ep[AT(i,x)], ack[AT(i,x)], claim[x], 1) \
     :: MINE(i,x) && (!WANT(i,x) || !ROOM(x)) -> send(i, REL, x, 0, ep[AT(i,x)], ack[AT(i,x)], 0, 1) \
     :: MINE(i,x) && WANT(i,x) && ROOM(x) && (BUG!=8 || calm) -> send(i, TAKE, x, i, ep[AT(i,x)], 0, 0, 0) \
     :: MINE(i,x) && !calm && BUG==8 -> hold[AT(i,x)] = OWN        /* bug 8: the old ownership goes on */ \
     fi } \
:: atomic { IDLEHAND(i) && (hold[AT(i,x)]==OWN || hold[AT(i,x)]==DRAIN) && ATEND(i,x) && KIDOK(i,x) -> \
     send(i, ENDW, x, 0, ep[AT(i,x)], 0, 0, 0); hold[AT(i,x)] = LET }

#ifdef REBOOT
#define MAYSTART(i) (up[i]==0 && ((i)!=2 || row[1]==GONE))
#else
#define MAYSTART(i) (up[i]==0)
#endif

proctype Worker(byte i) { byte x;
end: do
  :: atomic { MAYSTART(i) -> up[i]=1; row[i]=ALIVE; left[i]=FENCE; quiet[i]=0 }
  :: steps(i, 0)
  :: steps(i, 1)
  :: atomic { IDLEHAND(i) && BUG!=3 && BUG!=6 && hold[AT(i,0)]!=NONE && del[AT(i,0)]==RP && !kid[i] -> send(i, CREATE, 1, 0, 0, 0, 0, 0) }
  :: atomic { IDLEHAND(i) && (BUG==3 || BUG==6) && kid[i] && !exists[1] -> send(i, CREATE, 1, 0, 0, 0, 0, 0) }
#ifdef OWNED
  :: atomic { IDLEHAND(i) && !exists[1] && hold[AT(i,1)]==NONE && !made[i] -> made[i] = 1; send(i, CREATE, 1, i, 0, 0, 0, 0) }
#endif
  :: atomic { up[i]==1 && (ms[i]==OKAY || ms[i]==REFUSED) -> answer(i); x=0 }
  :: atomic { up[i]==1 && ms[i]==UNSURE -> if :: ms[i]=FLY :: unsettled(i) finish(i) fi }       /* the same again, or given up */
  :: atomic { i!=NI && up[i]==1 && !calm && hold[AT(i,0)]!=DRAIN && hold[AT(i,1)]!=DRAIN &&
       del[AT(i,0)]==ack[AT(i,0)] && del[AT(i,1)]==ack[AT(i,1)] && row[i]==ALIVE -> row[i]=GONE; die(i) }  /* LEAVE */
#ifdef REBOOT
  :: atomic { i==NI && up[i]==1 && owner[0]!=0 && owner[0]!=i && owner[0]!=named -> named=owner[0]; if :: BUG!=10 -> image=0 :: else fi }
  :: atomic { i==NI && up[i]==1 && exists[1] && owner[1]!=0 && owner[1]!=i && owner[1]!=named -> named=owner[1]; if :: BUG!=10 -> image=0 :: else fi }
  :: atomic { i==NI && up[i]==1 && image!=(up[2]==0 -> 1 : 2) -> image=(up[2]==0 -> 1 : 2) }       /* a consistent read */
#endif
  od }

/* ---- the network --------------------------------------------------------------------------------------------------- */
proctype Net(byte i) { bit ok;
end: do
  :: atomic { ms[i]==FLY -> apply(m[i], i, ok); if :: ok -> ms[i]=OKAY :: else -> ms[i]=REFUSED fi; ok=0 }
  :: atomic { ms[i]==FLY && faults>0 && !calm && stray.kd==0 -> faults--; copy(m[i], stray); strayfrom=i;
       if :: ms[i]=UNSURE                                                                             /* late */
          :: apply(m[i], i, ok); if :: ok -> ms[i]=OKAY :: else -> ms[i]=REFUSED fi; ok=0            /* doubled */
       fi }
  :: atomic { (ms[i]==FLY || ms[i]==OKAY || ms[i]==REFUSED) && faults>0 && !calm -> faults--; ms[i]=UNSURE }  /* lost */
  od }

proctype Stray() { bit ok;
end: do
  :: atomic { stray.kd!=0 -> apply(stray, strayfrom, ok); wipe(stray); strayfrom=0; ok=0 }
  :: atomic { stray.kd!=0 && !calm -> wipe(stray); strayfrom=0 }
  od }

/* ---- heartbeats, eviction, operators ----------------------------------------------------------------------------- */
proctype Heart(byte i) { byte v;
end: do
  :: atomic { !calm && up[i]==1 && hb[i]==0 && left[i]<FENCE -> hb[i]=1; hbage[i]=0 }
  :: atomic { hb[i]==1 -> if :: row[i]==ALIVE -> quiet[i]=0; hb[i]=2 :: else -> hb[i]=3 fi;
       if :: up[i]!=1 -> hb[i]=0; hbage[i]=0 :: else fi }
  :: atomic { !calm && hb[i]!=0 && hbfaults>0 -> hbfaults--; hb[i]=0; hbage[i]=0 }
  :: atomic { up[i]==1 && hb[i]==2 -> v = (BUG==2 -> FENCE : FENCE-hbage[i]);      /* bug 2: from its answer on */
       if :: v>left[i] -> left[i]=v :: else fi; hb[i]=0; hbage[i]=0; v=0 }
  :: atomic { up[i]==1 && hb[i]==3 -> die(i) }                                     /* it was evicted */
  :: atomic { calm && up[i]==1 && row[i]!=ALIVE && hb[i]==0 -> die(i) }
  :: atomic { row[i]==ALIVE && quiet[i]>=LEASE -> row[i]=GONE }                    /* EVICT */
  :: atomic { !calm && opdel>0 && row[i]==ALIVE -> opdel--; row[i]=MISSING; quiet[i]=0 }
  :: atomic { !calm && crashes>0 && up[i]==1 -> crashes--; die(i) }
  od }

/* ---- time: it stops when nothing depends on it any more -------------------------------------------------------------- */
#define LIVE(j) (calm && up[j]==1 && row[j]==ALIVE)
#define QUIETMOVES(j) (!LIVE(j) && (row[j]==ALIVE || row[j]==MISSING) && quiet[j]<LEASE)
#define LEFTMOVES(j) (!LIVE(j) && left[j]>0)
#define AGEMOVES(j) ((hb[j]==1 || hb[j]==2) && hbage[j]<FENCE)
#define MOVES(j) (QUIETMOVES(j) || LEFTMOVES(j) || AGEMOVES(j))
#if NI>2
#define TICKS (MOVES(1) || MOVES(2))
#else
#define TICKS MOVES(1)
#endif
proctype Clock() { byte j;
end: do
  :: atomic { TICKS -> j = 1;
       do
       :: j < NI ->
          if :: QUIETMOVES(j) -> quiet[j]++ :: else fi;
          if :: LEFTMOVES(j) -> left[j]-- :: else fi;
          if :: AGEMOVES(j) -> hbage[j]++ :: else fi;
          j++
       :: else -> break
       od; j = 0 }
  od }

/* ---- the end of all faults ------------------------------------------------------------------------------------------- */
proctype Nature() { byte j;
  atomic { calm = 1; j = 1;
    do
    :: j < NI -> if :: up[j]==1 && row[j]==ALIVE -> left[j]=FENCE; quiet[j]=0; hb[j]=0; hbage[j]=0 :: else fi; j++
    :: else -> break
    od;
    tgt[0] = NI; tgt[1] = NI;
    if :: up[1]==1 && row[1]==ALIVE -> tgt[0] = 1 :: true fi;
    if :: up[1]==1 && row[1]==ALIVE -> tgt[1] = 1 :: true fi; j = 0 }
  timeout -> assert(DONE)
}

#ifdef REBOOT
#define STARTSUP(j) ((j)==1)
#else
#define STARTSUP(j) ((j)<NI)
#endif
init { byte j;
  atomic {
    exists[0] = 1; tgt[0]=NI; tgt[1]=NI; j = 1;
    do
    :: j <= NI -> left[j]=FENCE; if :: STARTSUP(j) -> up[j]=1; row[j]=ALIVE :: else fi; if :: j<NI -> run Heart(j) :: else fi;
                  run Worker(j); run Net(j); j++
    :: else -> break
    od; j = 0;
#ifdef LATEJOIN
    stray.kd = JOIN; strayfrom = 1;
#endif
    run Stray(); run Clock(); run Nature() } }

#ifdef LTL              /* when the faults are over everything is read to its end: no idle end, no dance for ever */
ltl live { [] (calm -> <> DONE) }
#endif
