import math, time, collections, json
from planner.plan import plan
from planner.request import parse
def test_stats(priced, given, brute_force, instances):
    import os
    lo,hi=int(os.environ["LO"]),int(os.environ["HI"])
    bad=[];tot=collections.Counter()
    for seed in range(lo,hi):
        prices, asked, name = instances.question(seed)
        request, catalog = parse({"as_of": "2026-11-21", **asked, "strategies": [name]}), priced(prices)
        t=time.time(); print(".",seed,end="",flush=True)
        try:
            q = given.read(request, catalog, name)
            least,n = (math.inf,0) if q is None else brute_force.least(q)
        except Exception as e:
            bad.append((seed,"brute",repr(e))); print(bad[-1]); continue
        t1=time.time()-t
        try: found = plan(request, catalog).strategy(name)
        except Exception as e:
            bad.append((seed,"plan",repr(e))); print(bad[-1]); continue
        tot["feasible" if least<math.inf else "infeasible"]+=1
        tot["lps"]+=n
        tot["t"]+=t1
        if t1>5: print("slow",seed,n,t1)
        for p in found.purchases: tot[p.purchase_option]+=1
        for o in {u.purchase_option for u in found.uses}: tot["use "+o]+=1
        a = found.present_cost if found.status!="infeasible" else math.inf
        if not (a==least or abs(a-least)<=3e-6*abs(least)+1e-4):
            bad.append((seed,name,a,least,(a-least)/least)); print(bad[-1],flush=True)
    print(tot); print("bad",bad)
